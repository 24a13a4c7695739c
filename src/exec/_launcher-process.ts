import { type ChildProcess, spawn } from 'node:child_process'
import { createCapture } from './capture.ts'
import { launcherProgram } from './_launcher-program.ts'
import { killGroup } from './_process-group.ts'
import type { ProcessEnd, ProcessRequest, ProcessResult, RunProcess } from './process.ts'
import { supervise } from './_supervision.ts'

export interface LauncherProcess {
  /** For one program at a time. */
  run: RunProcess
  alive(): boolean
  close(): Promise<void>
}

/** What it says of the program that runs: a letter and data, as `launcherProgram` describes them. */
type Listener = { heard(letter: string, data: Buffer): void; lost(): void }

/** Resolves with undefined when it cannot be started or does not answer. */
export function startLauncher(perl: string): Promise<LauncherProcess | undefined> {
  const child = spawn(perl, ['-e', launcherProgram], {
    cwd: '/',
    env: {},
    stdio: ['pipe', 'pipe', 'ignore'],
    // A Ctrl-C at the terminal is for us alone; the launcher goes when its input ends.
    detached: true,
  })
  return new Promise((resolve) => {
    let listener: Listener = {
      heard: () => resolve(launcherProcess(child, (next) => (listener = next), ended)),
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
): LauncherProcess {
  const tell = (text: string): void => void child.stdin?.write(withLength(text))
  let alive = true
  void ended.then(() => (alive = false))
  return {
    alive: () => alive && child.exitCode === null && child.signalCode === null,
    run: (request) =>
      new Promise((resolve) => {
        const settle = (result: ProcessResult): void => {
          listen(nobody)
          resolve(result)
        }
        listen(listenerFor(request, tell, settle))
        tell(describe(request))
      }),
    async close() {
      child.stdin?.end()
      await ended
    },
  }
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
        case 'X': {
          const [status = 0, pid = 0] = data.toString().split(' ').map(Number)
          running = undefined
          supervision.identified(pid)
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

function withLength(text: string): Buffer {
  const length = Buffer.byteLength(text)
  const message = Buffer.allocUnsafe(length + 4)
  message.writeUInt32BE(length)
  message.write(text, 4)
  return message
}

/** Messages are a letter, a 32-bit length and as many bytes; chunks end anywhere. */
function splitMessages(heard: (letter: string, data: Buffer) => void): (chunk: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0)
  return (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    while (pending.length >= headLength) {
      const end = headLength + pending.readUInt32BE(1)
      if (pending.length < end) return
      const [letter, data] = [pending.toString('latin1', 0, 1), pending.subarray(headLength, end)]
      pending = pending.subarray(end)
      heard(letter, data)
    }
  }
}

const headLength = 5

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
