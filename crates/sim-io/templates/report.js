"use strict";
(() => {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const config = { responsive: true, displaylogo: false };
  data.charts.forEach((chart, i) => Plotly.newPlot(`chart-${i}`, chart.data, chart.layout, config));

  const drawing = data.drawing;
  if (!drawing) return;
  const bytes = Uint8Array.from(atob(drawing.frames), (c) => c.charCodeAt(0));
  const values = new Float32Array(bytes.buffer);
  const count = drawing.particles;
  const frames = drawing.times.length;
  // One frame is x, y, z and speed of every particle, one array after the other.
  const part = (frame, k) => values.subarray((4 * frame + k) * count, (4 * frame + k + 1) * count);
  const [a, b] = drawing.plane; // which axes lie in the picture
  // Polylines with gaps, so that each line is drawn once.
  const along = (array, path = drawing.path) => path.map((p) => (p < 0 ? null : array[p]));
  const marked = (array) => Array.from(array.subarray(0, drawing.marked)); // rigid bodies get no marks

  const updates = (frame) => {
    const [x, y, z, speed] = [0, 1, 2, 3].map((k) => part(frame, k));
    return drawing.traces.map((kind) => {
      if (kind === "line2") return { x: along(part(frame, a)), y: along(part(frame, b)) };
      if (kind === "points2") return { x: marked(part(frame, a)), y: marked(part(frame, b)), "marker.color": marked(speed) };
      if (kind === "outline2") return { x: along(part(frame, a), drawing.outline), y: along(part(frame, b), drawing.outline) };
      if (kind === "outline3") return { x: along(x, drawing.outline), y: along(y, drawing.outline), z: along(z, drawing.outline) };
      if (kind === "solid3") return { x: Array.from(x), y: Array.from(y), z: Array.from(z) };
      if (kind === "line3") return { x: along(x), y: along(y), z: along(z), "line.color": along(speed).map((s) => s ?? 0) };
      return { x: Array.from(x), y: Array.from(y), z: Array.from(z), intensity: Array.from(speed) };
    });
  };

  const scrub = document.getElementById("scrub");
  const play = document.getElementById("play");
  const time = document.getElementById("time");
  const rate = document.getElementById("rate");
  const plot = document.getElementById("drawing");
  scrub.max = frames - 1;
  let current = -1;
  let drawn = Promise.resolve();

  const merge = (list) => {
    const keys = [...new Set(list.flatMap(Object.keys))];
    return Object.fromEntries(keys.map((key) => [key, list.map((u) => u[key])]));
  };
  const show = (frame) => {
    if (frame === current) return drawn;
    current = frame;
    scrub.value = frame;
    time.textContent = drawing.labels[frame] ?? `${drawing.times[frame].toFixed(drawing.decimals)} s`;
    const list = updates(frame);
    // Each kind has its own set of keys: traces are restyled one by one.
    drawn = Promise.all(list.map((u, i) => Plotly.restyle(plot, merge([u]), [i])));
    return drawn;
  };

  let playing = null;
  const stop = () => {
    if (playing !== null) clearTimeout(playing);
    playing = null;
    play.textContent = "Play";
  };
  const start = () => {
    if (frames < 2) return;
    if (current === frames - 1) show(0);
    play.textContent = "Pause";
    const first = drawing.times[current];
    const since = performance.now();
    const speed = Number(rate.value);
    // A timer rather than an animation frame: it also runs where nothing is painted.
    const tick = async () => {
      const t = first + (speed * (performance.now() - since)) / 1000;
      let frame = current;
      while (frame + 1 < frames && drawing.times[frame + 1] <= t) frame += 1;
      await show(frame);
      if (playing === null) return;
      if (frame === frames - 1) return stop();
      playing = setTimeout(tick, 16);
    };
    playing = setTimeout(tick, 16);
  };
  play.addEventListener("click", () => (playing === null ? start() : stop()));
  rate.addEventListener("change", () => { if (playing !== null) { stop(); start(); } });
  scrub.addEventListener("input", () => { stop(); show(Number(scrub.value)); });

  Plotly.newPlot(plot, drawing.data, drawing.layout, config).then(() => show(drawing.first)).then(() => {
    // What a script (or a test) may ask of the page.
    window.report = { frames, show, start, stop, current: () => current };
    document.documentElement.dataset.ready = "true";
  });
})();
