//! How things look: one class for each role, light by default and dark where the reader wants it.
//!
//! Single-class selectors without custom properties, since that is the least that converters support; all with one prefix,
//! so that nothing restyles a page that holds the picture. Shape and weight carry the meaning and hue only repeats it.

/// The sans-serif type that the reader's system has.
pub const SANS: &str = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Noto Sans','Liberation Sans',\
                        'DejaVu Sans',sans-serif";

/// The style sheet.
pub const SHEET: &str = "\
.h-text{fill:#1b1f24}.h-dim{fill:#57606a}.h-solid{fill:#1b1f24}.h-paper,.h-rev{fill:#fff}.h-box{fill:#f3f5f7;stroke:#1b1f24}
.h-line,.h-ink,.h-see,.h-old,.h-bad,.h-halo{fill:none}.h-line{stroke:#868e99}.h-ink{stroke:#1b1f24}.h-halo{stroke:#fff}
.h-see{stroke:#1f5fa8}.h-badge{fill:#fff;stroke:#1f5fa8}.h-ghost{fill:#fff;stroke:#1b1f24}
.h-old{stroke:#8f5200}.h-oldbadge{fill:#fff4dc;stroke:#8f5200}.h-oldtext{fill:#744300}
.h-bad{stroke:#b3261e}.h-badtext,.h-badsolid{fill:#b3261e}.h-badfill{fill:#fdeceb}
.h-b{font-weight:700}.h-n{font-variant-numeric:tabular-nums}.h-s{font-size:12px}.h-c{text-anchor:middle}.h-e{text-anchor:end}
.h-m{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace}
@media (prefers-color-scheme:dark){
.h-text{fill:#e6edf3}.h-dim{fill:#9da7b3}.h-solid{fill:#e6edf3}.h-paper,.h-rev{fill:#0d1117}.h-box{fill:#1c222b;stroke:#e6edf3}
.h-line{stroke:#6e7681}.h-ink{stroke:#e6edf3}.h-halo{stroke:#0d1117}
.h-see{stroke:#79b8ff}.h-badge{fill:#0d1117;stroke:#79b8ff}.h-ghost{fill:#0d1117;stroke:#e6edf3}
.h-old{stroke:#e3b341}.h-oldbadge{fill:#2b2210;stroke:#e3b341}.h-oldtext{fill:#f0c862}
.h-bad{stroke:#ff8b82}.h-badtext,.h-badsolid{fill:#ff8b82}.h-badfill{fill:#321718}}
";
