// Times as the person reads them (tweetwatch/notation.py has the same), and the browser's proposal
// for somebody who has not chosen yet.
(() => {
  const { dates = "ymd", hours = "24", zone: chosen = "UTC" } = document.body.dataset;
  const IS_UTC = /^(Etc\/)?(UTC|UCT|GMT|Zulu|Universal)$/;

  const notation = (zone, order, of) => {
    const inNumbers = order === "ymd";
    const format = new Intl.DateTimeFormat("en", {
      timeZone: zone, year: "numeric", month: inNumbers ? "2-digit" : "short", day: inNumbers ? "2-digit" : "numeric",
      hour: "numeric", minute: "2-digit", second: "2-digit", hourCycle: of === "12" ? "h12" : "h23",
      timeZoneName: "shortOffset",
    });
    const parts = (at) => Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
    const day = (at) => {
      const { year, month, day: date } = parts(at);
      return { ymd: `${year}-${month}-${date}`, dmy: `${date} ${month} ${year}`, mdy: `${month} ${date}, ${year}` }[order];
    };
    const clock = (at, seconds = false) => {
      const { hour, minute, second, dayPeriod } = parts(at);
      const exact = seconds ? `:${second}` : "";
      return of === "12" ? `${hour}:${minute}${exact} ${dayPeriod}` : `${hour.padStart(2, "0")}:${minute}${exact}`;
    };
    const offset = (at) => parts(at).timeZoneName.replace(/^GMT(\+0$)?/, "UTC").replace("-", "−");
    return { zone, day, clock, offset };
  };
  try {
    window.Times = notation(chosen, dates, hours);
  } catch {
    // A zone that this browser does not know.
    window.Times = notation("UTC", dates, hours);
  }

  // As this browser would write a date of its own.
  const proposal = () => {
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    const clock = new Intl.DateTimeFormat(navigator.language, { hour: "numeric" }).resolvedOptions();
    const written = new Intl.DateTimeFormat(navigator.language).formatToParts(new Date());
    const order = written.map(({ type }) => type[0]).filter((first) => "ymd".includes(first)).join("");
    const locale = new Intl.Locale(navigator.language);
    // From Monday, 1; older browsers do not say.
    const first = (locale.getWeekInfo?.() ?? locale.weekInfo)?.firstDay;
    return {
      zone: timeZone, dates: ["dmy", "mdy"].includes(order) ? order : "ymd", hours: clock.hour12 ? "12" : "24",
      week_start: [1, 6, 7].includes(first) ? String(first - 1) : "",
    };
  };
  const template = document.querySelector("template[data-times]");
  if (!template) return;
  const proposed = proposal();
  if (!proposed.zone || IS_UTC.test(proposed.zone)) return;
  const now = new Date();
  const box = template.content.firstElementChild;
  const there = notation(proposed.zone, proposed.dates, proposed.hours);
  box.querySelector("[data-proposed=zone]").textContent = proposed.zone;
  box.querySelector("[data-proposed=now]").textContent = `${there.day(now)} ${there.clock(now)}`;
  for (const [name, value] of Object.entries(proposed)) box.querySelector(`input[name=${name}]`).value = value;
  box.querySelector("a").search = new URLSearchParams(proposed);
  template.replaceWith(box);
})();
