import { type ChildProcess, spawn } from 'node:child_process'
import { createCapture } from './capture.ts'
import { type Listener, splitMessages, withLength } from './_launcher-messages.ts'
import { launcherProgram } from './_launcher-program.ts'
import {
  openQuickPipes,
  type QuickPipes,
  type Readiness,
  readReadiness,
} from './_launcher-pipes.ts'
import { endEscaped } from './orphans.ts'
import { killGroup } from './_process-group.ts'
import type { ProcessEnd, ProcessRequest, ProcessResult, RunProcess } from './process.ts'
import { startFailure } from './_start-failure.ts'
import { supervise } from './_supervision.ts'

export interface LauncherProcess {
  /** For one program at a time. */
  run: RunProcess
  alive(): boolean
  close(): Promise<void>
}

/** How long its start may take. */
const startLimitMs = 5000

/** Resolves with undefined when it cannot be started or does not say in time that it is ready. */
export function startLauncher(perl: string, quick: boolean): Promise<LauncherProcess | undefined> {
  // Without its pipes where we have too many descriptors already.
  const child: ChildProcess = spawn(perl, ['-e', launcherProgram], {
    cwd: '/',
    // Else each copy of it that becomes a program looks up anew what it calls.
    env: { LD_BIND_NOW: '1' },
    stdio: ['pipe', 'pipe', 'ignore'],
    // A Ctrl-C at the terminal is for us alone; the launcher goes when its input ends.
    detached: true,
  })
  child.stdin?.on('error', () => undefined)
  child.stdout?.on('error', () => undefined)
  let listener = nobody
  // Its keeper may not tell us, when somebody has stopped it.
  child.stdout?.on('close', () => listener.lost())
  const ended = new Promise<void>((resolve) => {
    const over = (): void => {
      listener.lost()
      resolve()
    }
    child.on('error', over)
    child.on('close', over)
  })
  return new Promise((resolve) => {
    const limit = setTimeout(() => answered(undefined), startLimitMs).unref()
    const answered = (ready: Readiness | undefined): void => {
      clearTimeout(limit)
      if (ready === undefined) {
        endStranger(child)
        return resolve(undefined)
      }
      const take = splitMessages((letter, data) => listener.heard(letter, data))
      child.stdout?.on('data', take)
      const pipes = quick ? openQuickPipes(ready) : undefined
      resolve(launcherProcess(child, (next) => (listener = next), ended, pipes))
    }
    void ended.then(() => answered(undefined))
    child.stdout?.once('data', (chunk: Buffer) => answered(readReadiness(chunk)))
  })
}

/** What was started is no launcher: it is not listened to any more, nor waited for. */
function endStranger(child: ChildProcess): void {
  if (child.pid !== undefined && !hasEnded(child)) killGroup(child.pid)
  child.stdin?.destroy()
  child.stdout?.destroy()
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

function launcherProcess(
  child: ChildProcess,
  listen: (listener: Listener) => void,
  ended: Promise<void>,
  pipes: QuickPipes | undefined,
): LauncherProcess {
  const toInput = (text: string): void => void child.stdin?.write(withLength(text))
  const tell = pipes === undefined ? toInput : (text: string) => pipes.write(withLength(text))
  if (pipes !== undefined) toInput('Q')
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    pipes?.closeInput()
    child.stdin?.end()
    // Its keeper, stopped by somebody, would never end.
    child.kill('SIGCONT')
    await ended
    pipes?.close()
  }
  let alive = true
  void ended.then(() => (alive = false))
  return {
    alive: () => alive && !hasEnded(child) && child.stdout?.destroyed === false,
    run: (request) =>
      new Promise((resolve) => {
        let settled = false
        const settle = (result: ProcessResult): void => {
          settled = true
          listen(nobody)
          if (pipes === undefined || !isTurnDue()) resolve(result)
          else setImmediate(() => resolve(result))
        }
        const listener = listenerFor(request, tell, settle)
        listen(listener)
        tell(describe(request))
        if (pipes?.answer(listener, () => settled) === 'lost') alive = false
      }),
    close: () => (closing ??= close()),
  }
}

/** How long short programs may follow each other before signals and timers are heard. */
const turnMs = 50
let turnedAt = 0

function isTurnDue(): boolean {
  const now = Date.now()
  const due = Math.abs(now - turnedAt) >= turnMs
  if (due) turnedAt = now
  return due
}

const nobody: Listener = { heard: () => undefined, lost: () => undefined }

function listenerFor(
  request: ProcessRequest,
  tell: (text: string) => void,
  resolve: (result: ProcessResult) => void,
): Listener {
  const stdout = createCapture(request.outputLimit)
  const stderr = createCapture(request.outputLimit)
  let running: number | undefined
  const supervision = supervise(
    request,
    { closeOutput: () => tell('C'), identify: () => tell('P') },
    (end) => resolve({ end, stdout: stdout.finish(), stderr: stderr.finish() }),
  )
  return {
    heard(letter, data) {
      switch (letter) {
        case 'O':
          stdout.add(data)
          request.onOutput?.(data, 'stdout')
          break
        case 'E':
          stderr.add(data)
          request.onOutput?.(data, 'stderr')
          break
        case 'P':
          running = Number(data.toString())
          supervision.identified(running)
          break
        case 'X':
        case 'Z': {
          const [status = 0, pid = 0] = data.toString().split(' ').map(Number)
          running = undefined
          supervision.identified(pid)
          if (letter === 'Z') supervision.drained()
          supervision.ended(endOf(status))
          break
        }
        case 'F':
          supervision.ended(notStarted(request, Number(data.toString())))
          break
        case 'D':
          supervision.drained()
          break
      }
    },
    // Somebody ended the launcher: nobody could say any more how the program ends.
    lost() {
      if (running !== undefined) killGroup(running)
      endEscaped(request.env)
      supervision.ended({ kind: 'signal', signal: 'SIGKILL' })
      supervision.drained()
    },
  }
}

function describe({ file, args, cwd, env, stdin }: ProcessRequest): string {
  const input = typeof stdin === 'object' ? stdin.file : '/dev/null'
  const words = [file, ...args]
  return [cwd, input, words.length, ...words, ...Object.entries(env).flat()].join('\0')
}

/** From a wait status as `waitpid` gives it. */
function endOf(status: number): ProcessEnd {
  const number = status & 127
  return number === 0
    ? { kind: 'exit', code: status >> 8 }
    : { kind: 'signal', signal: signalNamed(number) }
}

/** These modules are seldom needed, and their loading is a part of every start. */
function signalNamed(number: number): NodeJS.Signals {
  const { signals } = process.getBuiltinModule('node:os').constants
  const isSignal = (name: string): name is NodeJS.Signals => Object.hasOwn(signals, name)
  const names = Object.keys(signals).filter(isSignal)
  return names.find((name) => signals[name] === number) ?? 'SIGKILL'
}

/** In the words of Node. */
function notStarted(request: ProcessRequest, errno: number): ProcessEnd {
  const { getSystemErrorName } = process.getBuiltinModule('node:util')
  return startFailure(request, `spawn ${request.file} ${getSystemErrorName(-errno)}`)
}
