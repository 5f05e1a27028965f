import type { DoorEvent } from "./door_event.ts";

/** What a request was for; one that is none of these is `other`. */
export type RouteName = "card" | "healthz" | "readyz" | "metrics" | "rpc" | "rest" | "completion" | "other";

/** Counts what happens at a door. Labels are of these few words: no id, no principal, no path. */
export class DoorMetrics {
  readonly #requests = new Map<string, number>();
  readonly #tasks = new Map<string, number>();
  #dropped = 0;
  #completions = 0;

  /** A request was answered. */
  served(route: RouteName, status: number): void {
    const key = `route="${route}",code="${Math.floor(status / 100)}xx"`;
    this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1);
  }

  /** Something happened to a task. */
  count(event: DoorEvent): void {
    if (event.event === "task_end") this.#tasks.set(event.state, (this.#tasks.get(event.state) ?? 0) + 1);
    else if (event.event === "readers_dropped") this.#dropped += event.count;
    else if (event.event === "completion") this.#completions++;
  }

  /** All of it, and these values as they are now, as Prometheus reads it. */
  text(gauges: Readonly<Record<string, number>>): string {
    const states = [...this.#tasks].map(([state, count]) => [`state="${state}"`, count] as const);
    return [
      ...family("boll_door_requests_total", "counter", [...this.#requests]),
      ...family("boll_door_tasks_total", "counter", states),
      ...family("boll_door_readers_dropped_total", "counter", [["", this.#dropped]]),
      ...family("boll_door_completions_total", "counter", [["", this.#completions]]),
      ...Object.entries(gauges).flatMap(([name, value]) => family(name, "gauge", [["", value]])),
    ].join("\n") + "\n";
  }
}

function family(name: string, type: "counter" | "gauge", values: readonly (readonly [string, number])[]): string[] {
  return [`# TYPE ${name} ${type}`, ...values.map(([labels, value]) => `${name}${labels && `{${labels}}`} ${value}`)];
}
