//! Opens report pages in headless Chromium: no script error, the animation advances, a screenshot stays in `target/`.
//!
//! Without a browser the test says so and checks nothing, except under `CI`, where a missing browser is a failure.

use sim_io::report::{Chart, Drawing, ReportPage, Verdict, render};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A page of a swinging line or of a waving sheet.
fn page(sheet: bool) -> ReportPage {
    let n = 12_u32;
    let times: Vec<f64> = (0..40).map(|i| f64::from(i) * 0.05).collect();
    let mut drawing = Drawing { times: times.clone(), ..Drawing::default() };
    for &t in &times {
        let (mut q, mut s) = (Vec::new(), Vec::new());
        for i in 0..n {
            for j in 0..if sheet { n } else { 1 } {
                let (x, y) = (f64::from(i) / 11.0, f64::from(j) / 11.0);
                let z = 0.2 * (3.0 * x - 4.0 * t).sin();
                q.push([x as f32, y as f32, z as f32]);
                s.push((0.8 * (3.0 * x - 4.0 * t).cos().abs()) as f32);
            }
        }
        drawing.positions.push(q);
        drawing.speeds.push(s);
    }
    if sheet {
        for a in (0..n - 1).flat_map(|i| (0..n - 1).map(move |j| i * n + j)) {
            drawing.triangles.extend([[a, a + n, a + 1], [a + 1, a + n, a + n + 1]]);
        }
    } else {
        drawing.segments = (0..n - 1).map(|i| [i, i + 1]).collect();
    }
    let energy = times.iter().map(|t| t.cos()).collect();
    ReportPage {
        title: "Waving </script><b>part".into(),
        subtitle: "A made-up motion with a title that tries to break out of its element.".into(),
        facts: vec![("method".into(), "leapfrog".into()), ("step".into(), "1.0e-3 s".into())],
        verdicts: vec![Verdict {
            probe: "tip".into(),
            expected: "1 m".into(),
            measured: "1.001 m".into(),
            tolerance: "0.01 m".into(),
            source: "by construction".into(),
            pass: true,
        }],
        drawing: Some(drawing),
        charts: vec![Chart {
            title: "Energy".into(),
            x_label: "t [s]".into(),
            y_label: "J".into(),
            log: false,
            series: vec![("kinetic".into(), times, energy)],
            ..Chart::default()
        }],
        ..ReportPage::default()
    }
}

fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).flat_map(|dir| names.map(|name| dir.join(name))).find(|file| file.is_file())
}

fn run(browser: &Path, profile: &Path, extra: &[&str], page: &Path) -> Vec<u8> {
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-unsafe-swiftshader",
            "--hide-scrollbars",
        ])
        .args(["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-sync"])
        .args(["--disable-component-update", "--virtual-time-budget=30000", "--window-size=1200,1500"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(extra)
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser starts");
    assert!(output.status.success(), "browser failed: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Watches for errors, plays, scrubs, and leaves what it saw in `<pre id="probe">`.
const WATCH: &str = r#"<script>
window.problems = [];
addEventListener("error", (e) => window.problems.push(String(e.message)));
addEventListener("unhandledrejection", (e) => window.problems.push(String(e.reason)));
addEventListener("load", () => {
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  (async () => {
    for (let i = 0; i < 200 && !window.report; i += 1) await wait(50);
    const seen = { frames: window.report?.frames, at: [] };
    const height = () => { const d = document.getElementById("drawing").data.at(-1); return Array.from(d.z ?? d.y).slice(0, 3); };
    seen.first = height();
    document.getElementById("play").click();
    for (let i = 0; i < 6; i += 1) { await wait(200); seen.at.push(window.report.current()); }
    window.report.stop();
    await window.report.show(11);
    seen.later = height();
    seen.charts = document.querySelectorAll(".chart .main-svg").length;
    seen.problems = window.problems;
    const pre = document.createElement("pre");
    pre.id = "probe"; pre.hidden = true; pre.textContent = JSON.stringify(seen);
    document.body.append(pre);
  })();
});
</script>"#;

fn check(name: &str, page: &ReportPage) {
    let html = render(page).unwrap();
    assert!(!html.contains("<b>part"), "the title must be escaped");
    let Some(browser) = browser() else {
        assert!(std::env::var_os("CI").is_none(), "CI needs a Chromium to open the report in");
        eprintln!("no Chromium on PATH: the report was not opened");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("watched.html");
    std::fs::write(&file, html.replacen("<head>", &format!("<head>{WATCH}"), 1)).unwrap();
    let profile = folder.path().join("profile");
    let dom = String::from_utf8(run(&browser, &profile, &["--dump-dom"], &file)).unwrap();
    let start = dom.find(r#"<pre id="probe""#).expect("the page reported");
    let json = &dom[start + dom[start..].find('>').unwrap() + 1..];
    let json = json[..json.find("</pre>").unwrap()].replace("&lt;", "<").replace("&amp;", "&");
    let seen: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(seen["problems"], serde_json::json!([]), "script errors");
    assert_eq!(seen["frames"], 40);
    assert!(seen["charts"].as_u64().unwrap() >= 1, "charts are drawn");
    let at: Vec<u64> = seen["at"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect();
    assert!(at.last().unwrap() > &0 && at.windows(2).all(|w| w[1] >= w[0]), "the animation advances: {at:?}");
    assert_ne!(seen["first"], seen["later"], "positions change between frames");

    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_owned();
    let picture = target.join(format!("report-{name}.png"));
    run(&browser, &profile, &[&format!("--screenshot={}", picture.display())], &file);
    assert!(std::fs::metadata(&picture).unwrap().len() > 20_000, "the screenshot shows something");
}

#[test]
fn a_line_plays() {
    check("line", &page(false));
}

#[test]
fn a_sheet_plays() {
    check("sheet", &page(true));
}
