import { stripVTControlCharacters } from 'node:util'
import { columnsOf, cutToColumns, safeLine } from '../base/index.ts'
import {
  type ChainEvent,
  duration,
  type EventListener,
  saidOfFailure,
  statusMarks,
  stepDuration,
} from '../chain/index.ts'
import type { Output } from './output.ts'

export interface Progress {
  listener: EventListener
  /** Ends the live line. */
  close(): void
}

/**
 * One line for each step on standard error when it ends, indented below its chain. On a terminal one
 * more line, rewritten, shows what runs now and for how long; in CI and without a terminal there is none.
 */
export function showProgress(output: Output): Progress {
  if (output.isQuiet) return { listener: () => undefined, close: () => undefined }
  const running = new Map<string, { name: string; since: number }>()
  const draw = (): void => output.live(liveLine(running))
  const timer = output.isLive ? setInterval(draw, 100).unref() : undefined
  let printed = false

  function print(text: string): void {
    if (timer !== undefined) output.live('')
    output.styled(text)
    printed = true
  }

  return {
    listener(event) {
      switch (event.type) {
        case 'step-started':
          if (event.chain) print(`${indent(event.step)}▸ ${label(event.step)}`)
          else running.set(event.key, { name: label(event.step), since: now() })
          break
        case 'step-finished':
          running.delete(event.key)
          print(finishedLine(event, output))
          break
        case 'step-suspended':
          running.delete(event.key)
          break
        case 'run-started':
        case 'step-output':
        case 'run-finished':
          break
      }
    },
    close() {
      clearInterval(timer)
      if (timer !== undefined) output.live('')
      // The timeline follows.
      if (printed) output.note('')
    },
  }
}

function finishedLine(event: ChainEvent & { type: 'step-finished' }, output: Output): string {
  const { mark, format } = statusMarks[event.status]
  const time = stepDuration({ ...event, startedAt: event.at })
  const line =
    `${indent(event.step)}${output.style(format, mark)} ${label(event.step)}  ${time}`.trimEnd()
  const failed = event.status === 'failure' || event.status === 'critical'
  const whole = failed ? saidOfFailure(event) : event.result
  const taken = columnsOf(stripVTControlCharacters(line)) + 2
  const room = output.isTerminal ? output.width - taken : Infinity
  const said = room < 10 ? '' : cutToColumns(safeLine(whole), Math.min(room, failed ? 120 : 60))
  return said === '' ? line : `${line}  ${output.style('dim', said)}`
}

function liveLine(running: ReadonlyMap<string, { name: string; since: number }>): string {
  return [...running.values()]
    .map(({ name, since }) => `… ${name} ${duration(now() - since)}`)
    .join('  ')
}

/** Monotonic milliseconds; `performance` would have to be loaded first. */
function now(): number {
  return process.uptime() * 1000
}

function indent(step: string): string {
  return '  '.repeat(step.split('/').length - 1)
}

function label(step: string): string {
  return safeLine(step.slice(step.lastIndexOf('/') + 1))
}
