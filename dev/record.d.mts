/** Seconds since the beginning, and what was written then. */
export type RecordedEvent = [seconds: number, text: string]

/** What util-linux `script` wrote, cut into events. */
export function eventsOf(output: Buffer, timing: string): RecordedEvent[]

/** An asciicast v2 file, without places and names of this machine. */
export function castOf(
  events: readonly RecordedEvent[],
  options: { columns: number; rows: number; title: string },
): string

/** What a reader of the terminal saw, without colours. */
export function plainText(cast: string): string
