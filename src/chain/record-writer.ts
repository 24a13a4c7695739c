import type { JournalWriter } from '../base/index.ts'
import type { ChainRecord } from './journal-records.ts'

/** Writes the records of a run in order, with as few waits for the disk as its promises allow. */
export interface RecordWriter {
  /** On the disk when it returns, and all that was deferred before it. Without records: only that. */
  append(...records: readonly ChainRecord[]): void
  /**
   * On the disk before anything else is done: together with the next record, at the latest at the
   * end of this turn of the event loop. So the result of a step and the start of the next one, which
   * must be there before that acts, share one wait. `written` is called then.
   */
  defer(record: ChainRecord, ended: { written(): void; failed(error: unknown): void }): void
}

export function createRecordWriter(journal: Pick<JournalWriter, 'append'>): RecordWriter {
  let deferred: { record: ChainRecord; written(): void }[] = []

  function append(...records: readonly ChainRecord[]): void {
    const waiting = deferred
    deferred = []
    if (waiting.length + records.length === 0) return
    const all = [...waiting.map((item) => item.record), ...records]
    journal.append(...all.map((record) => ({ ...record })))
    for (const item of waiting) item.written()
  }

  return {
    append,
    defer(record, { written, failed }) {
      deferred.push({ record, written })
      if (deferred.length > 1) return
      setImmediate(() => {
        try {
          append()
        } catch (error) {
          failed(error)
        }
      })
    },
  }
}
