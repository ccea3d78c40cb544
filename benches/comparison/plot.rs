//! The growth as a picture: states on a logarithmic scale, as they are and reduced.

use plotters::prelude::*;

/// What grows, and how many states there are at each size.
pub struct Line {
    pub name: String,
    pub whole: Vec<usize>,
    pub reduced: Vec<usize>,
}

const PER_PANEL: u32 = 260;

/// One panel for each thing that grows, as SVG.
pub fn plot(lines: &[Line]) -> String {
    let mut svg = String::new();
    draw(&mut svg, lines).expect("drawing into a string doesn't fail");
    svg
}

fn draw(svg: &mut String, lines: &[Line]) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let panels = u32::try_from(lines.len()).unwrap_or(1);
    let area = SVGBackend::with_string(svg, (PER_PANEL * panels, 320)).into_drawing_area();
    area.fill(&WHITE)?;
    let most = lines.iter().flat_map(|line| line.whole.iter().chain(&line.reduced)).copied().max().unwrap_or(10);
    #[expect(clippy::cast_precision_loss, reason = "a point of a plot")]
    let most = most as f64 * 3.0;
    for (panel, line) in area.split_evenly((1, lines.len().max(1))).iter().zip(lines) {
        let sizes = line.whole.len().max(line.reduced.len()).max(2);
        let mut chart = ChartBuilder::on(panel)
            .caption(&line.name, ("sans-serif", 15))
            .margin(8)
            .x_label_area_size(24)
            .y_label_area_size(52)
            .build_cartesian_2d(0..sizes - 1, (10.0..most).log_scale())?;
        chart
            .configure_mesh()
            .x_labels(sizes)
            .x_label_formatter(&|size| format!("+{size}"))
            .y_label_formatter(&|states| format!("{states:.0e}"))
            .draw()?;
        for (states, colour, name) in
            [(&line.whole, RGBColor(181, 71, 48), "all states"), (&line.reduced, RGBColor(46, 98, 150), "reduced")]
        {
            #[expect(clippy::cast_precision_loss, reason = "a point of a plot")]
            let points: Vec<(usize, f64)> =
                states.iter().enumerate().map(|(size, states)| (size, (*states as f64).max(10.0))).collect();
            chart
                .draw_series(LineSeries::new(points.iter().copied(), &colour))?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour));
            chart.draw_series(points.iter().map(|point| Circle::new(*point, 3, colour.filled())))?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .background_style(WHITE)
            .label_font(("sans-serif", 12))
            .draw()?;
    }
    area.present()
}
