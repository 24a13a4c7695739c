import { statSync } from 'node:fs'
import type { RailSession, WaitingGate } from './session.ts'

/** Notes a gate that waits, with the size of the run's journal: a decision in a terminal is appended to it. */
export function waitingGateIn(journal: string, step: string): WaitingGate {
  return { step, journal, size: sizeOf(journal) }
}

/** Whether the journal has changed since the rail began to wait at a gate. */
export function isDecidedElsewhere({ standing, waiting }: RailSession): boolean {
  return (
    standing === 'approval' && waiting !== undefined && sizeOf(waiting.journal) !== waiting.size
  )
}

function sizeOf(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? -1
  } catch {
    return -1
  }
}
