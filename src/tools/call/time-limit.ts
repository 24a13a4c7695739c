import type * as Vm from 'node:vm'
import { isObject } from '../../base/index.ts'

export type BoundedAnswer<T> = { inTime: true; value: T } | { inTime: false }

/**
 * Runs synchronous work that others wrote the rules of, and stops it after `limitMs`, also inside a
 * regular expression. A watchdog and nothing else: the work runs with all the rights that it has.
 */
export function runWithin<T>(limitMs: number, work: () => T): BoundedAnswer<T> {
  const { script, context } = (watchdog ??= createWatchdog())
  let answer: BoundedAnswer<T> = { inTime: false }
  context['work'] = (): void => {
    answer = { inTime: true, value: work() }
  }
  try {
    script.runInContext(context, { timeout: limitMs })
  } catch (error) {
    if (!isTimeout(error)) throw error
  } finally {
    context['work'] = undefined
  }
  return answer
}

interface Watchdog {
  script: Vm.Script
  context: Vm.Context
}

let watchdog: Watchdog | undefined

function createWatchdog(): Watchdog {
  const vm = process.getBuiltinModule('node:vm')
  return { script: new vm.Script('work()'), context: vm.createContext({ work: undefined }) }
}

/** By its code alone: it is an error of the context, and no instance of ours. */
function isTimeout(error: unknown): boolean {
  return isObject(error) && error['code'] === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
}
