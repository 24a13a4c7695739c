import { type ChildProcess, spawn } from 'node:child_process'
import { createCapture } from './capture.ts'
import { type Listener, splitMessages, withLength } from './_launcher-messages.ts'
import { launcherProgram } from './_launcher-program.ts'
import { openQuickPipes, type QuickPipes } from './_launcher-pipes.ts'
import { killGroup } from './_process-group.ts'
import type { ProcessEnd, ProcessRequest, ProcessResult, RunProcess } from './process.ts'
import { supervise } from './_supervision.ts'

export interface LauncherProcess {
  /** For one program at a time. */
  run: RunProcess
  alive(): boolean
  close(): Promise<void>
}

/** Resolves with undefined when it cannot be started or does not answer. */
export function startLauncher(perl: string, quick: boolean): Promise<LauncherProcess | undefined> {
  const child = spawn(perl, ['-e', launcherProgram], {
    cwd: '/',
    // Else each copy of it that becomes a program looks up anew what it calls.
    env: { LD_BIND_NOW: '1' },
    stdio: ['pipe', 'pipe', 'ignore'],
    // A Ctrl-C at the terminal is for us alone; the launcher goes when its input ends.
    detached: true,
  })
  return new Promise((resolve) => {
    let listener: Listener = {
      heard: (_letter, data) => {
        const pipes = quick ? openQuickPipes(child, data.toString()) : undefined
        resolve(launcherProcess(child, (next) => (listener = next), ended, pipes))
      },
      lost: () => resolve(undefined),
    }
    const ended = new Promise<void>((done) => {
      const over = (): void => {
        listener.lost()
        done()
      }
      child.on('error', over)
      child.on('close', over)
    })
    child.stdin?.on('error', () => undefined)
    child.stdout?.on('error', () => undefined)
    child.stdout?.on(
      'data',
      splitMessages((letter, data) => listener.heard(letter, data)),
    )
  })
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
    await ended
    pipes?.close()
  }
  let alive = true
  void ended.then(() => (alive = false))
  return {
    alive: () => alive && child.exitCode === null && child.signalCode === null,
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
          supervision.ended(notStarted(request.file, Number(data.toString())))
          break
        case 'D':
          supervision.drained()
          break
      }
    },
    // Somebody ended the launcher: nobody could say any more how the program ends.
    lost() {
      if (running !== undefined) killGroup(running)
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
function notStarted(file: string, errno: number): ProcessEnd {
  const { getSystemErrorName } = process.getBuiltinModule('node:util')
  return { kind: 'not-started', message: `spawn ${file} ${getSystemErrorName(-errno)}` }
}
