//! Line charts as SVG: small, plain, and the same bytes for the same numbers.

/// A picture.
pub(super) struct Drawing {
    text: String,
}

/// A line of a chart: its name, and its points, each with its place, its value, and the ends of its interval.
pub(super) type Series = (String, Vec<(usize, f64, f64, f64)>);

impl Drawing {
    /// An empty picture with a title.
    pub(super) fn new(width: u32, height: u32, title: &str) -> Self {
        let mut drawing = Self {
            text: format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
                 font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\">\n\
                 <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
            ),
        };
        drawing.words(60.0, 30.0, title, "font-size=\"18\" font-weight=\"bold\"");
        drawing
    }

    /// Words at a place. They may hold any characters.
    pub(super) fn words(&mut self, x: f64, y: f64, words: &str, style: &str) {
        let escaped = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        self.text.push_str(&format!("<text x=\"{x:.1}\" y=\"{y:.1}\" {style}>{escaped}</text>\n"));
    }

    fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), style: &str) {
        self.text.push_str(&format!("<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {style}/>\n"));
    }

    /// A chart in a frame, with its legend below.
    #[expect(clippy::too_many_arguments, reason = "a frame and what is in it")]
    pub(super) fn chart(
        &mut self,
        left: u32,
        top: u32,
        width: u32,
        height: u32,
        title: &str,
        labels: &[String],
        series: &[Series],
        colours: &[&str],
        most: Option<f64>,
    ) {
        let (left, top, width, height) = (f64::from(left), f64::from(top), f64::from(width), f64::from(height));
        let highest = series.iter().flat_map(|(_, points)| points).fold(0.0_f64, |most, point| most.max(point.3));
        let most = if highest <= 0.0 { most.unwrap_or(1.0) } else { round_up(highest).min(most.unwrap_or(f64::MAX)) };
        let x = |at: usize| {
            let gaps = labels.len().saturating_sub(1).max(1);
            left + width * number(at) / number(gaps)
        };
        let y = |value: f64| top + height * (1.0 - value / most);
        self.words(left, top - 12.0, title, "font-weight=\"bold\"");
        for tick in 0..=4_u32 {
            let value = most * f64::from(tick) / 4.0;
            self.line((left, y(value)), (left + width, y(value)), "stroke=\"#dddddd\"");
            self.words(left - 8.0, y(value) + 4.0, &format!("{value:.3}"), "text-anchor=\"end\" font-size=\"11\"");
        }
        for (at, label) in labels.iter().enumerate() {
            self.words(x(at), top + height + 18.0, label, "text-anchor=\"middle\" font-size=\"11\"");
        }
        self.words(left + width / 2.0, top + height + 36.0, "agents", "text-anchor=\"middle\"");
        for (index, (name, points)) in series.iter().enumerate() {
            let colour = colours[index % colours.len()];
            for pair in points.windows(2) {
                let [(from, low, ..), (to, high, ..)] = pair else { continue };
                let style = format!("stroke=\"{colour}\" stroke-width=\"2\"");
                self.line((x(*from), y(*low)), (x(*to), y(*high)), &style);
            }
            for (at, mean, low, high) in points {
                self.line((x(*at), y(*low)), (x(*at), y(*high)), &format!("stroke=\"{colour}\""));
                let (cx, cy) = (x(*at), y(*mean));
                self.text.push_str(&format!("<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"3\" fill=\"{colour}\"/>\n"));
            }
            let below = top + height + 60.0 + 18.0 * number(index);
            self.line(
                (left, below - 4.0),
                (left + 20.0, below - 4.0),
                &format!("stroke=\"{colour}\" stroke-width=\"3\""),
            );
            self.words(left + 28.0, below, name, "");
        }
    }

    /// The file.
    pub(super) fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }
}

/// The next of 1, 2, 5, 10, .. and their tenths that is not below a value.
fn round_up(value: f64) -> f64 {
    let mut step = 0.001;
    loop {
        for factor in [1.0, 2.0, 5.0] {
            if value <= step * factor {
                return step * factor;
            }
        }
        step *= 10.0;
    }
}

#[expect(clippy::cast_precision_loss, reason = "places in a list are small")]
const fn number(place: usize) -> f64 {
    place as f64
}
