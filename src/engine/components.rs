//! Strongly connected components of a graph.

/// The component of each of so many vertices, numbered in such an order that every edge leads to its own component or to one
/// with a lower number. `target(vertex, edge)` is where the edge of that number leads; `None`: there are no more. Tarjan's
/// algorithm, with a stack of its own: the graph may be deep.
pub(super) fn components(count: u32, target: impl Fn(u32, usize) -> Option<u32>) -> Vec<u32> {
    let size = count as usize;
    let (mut order, mut lowest, mut component) = (vec![u32::MAX; size], vec![0_u32; size], vec![u32::MAX; size]);
    let (mut next, mut found) = (0, 0);
    let mut open: Vec<u32> = Vec::new();
    for root in 0..count {
        if order[root as usize] != u32::MAX {
            continue;
        }
        let mut path: Vec<(u32, usize)> = vec![(root, 0)];
        while let Some(&mut (vertex, ref mut edge)) = path.last_mut() {
            let here = vertex as usize;
            if *edge == 0 {
                (order[here], lowest[here]) = (next, next);
                next += 1;
                open.push(vertex);
            }
            let to = target(vertex, *edge);
            *edge += 1;
            match to {
                Some(to) if order[to as usize] == u32::MAX => path.push((to, 0)),
                Some(to) if component[to as usize] == u32::MAX => {
                    lowest[here] = lowest[here].min(order[to as usize]);
                }
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some((parent, _)) = path.last() {
                        let parent = *parent as usize;
                        lowest[parent] = lowest[parent].min(lowest[here]);
                    }
                    if lowest[here] == order[here] {
                        let start = open.iter().rposition(|other| *other == vertex).expect("its root is on the stack");
                        open.drain(start..).for_each(|member| component[member as usize] = found);
                        found += 1;
                    }
                }
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_each_other_is_one_component_and_edges_lead_down() {
        let edges: [&[u32]; 6] = [&[1], &[2, 3], &[1], &[4], &[], &[5]];
        let found = components(6, |vertex, edge| edges[vertex as usize].get(edge).copied());
        assert_eq!(found[1], found[2]);
        assert_eq!(found.iter().collect::<std::collections::BTreeSet<_>>().len(), 5);
        for (vertex, targets) in edges.iter().enumerate() {
            assert!(targets.iter().all(|target| found[*target as usize] <= found[vertex]));
        }
    }
}
