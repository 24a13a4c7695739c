import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Who tries: the words that become another user, before the program. */
export interface User {
  name: string
  prefix: readonly string[]
}

export const nobody = ['/usr/bin/setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']

/** A small fixture with something to steal, to reach and to break. */
export interface Outside {
  base: string
  skill: string
  /** A directory that attempts may be granted; it contains the skill. */
  granted: string
  secret: string
  secretFile: string
  socketFile: string
  abstractName: string
  port: number
  /** Processes of the same user that a script in the sandbox must not reach. */
  processes: readonly number[]
  /** Name by which a program that was left behind is found. */
  marker: string
  /** The changes since the set-up. */
  changes(): string[]
  remove(): Promise<void>
}

const programs = fileURLToPath(new URL('../fixtures/programs/sandbox', import.meta.url))

export async function makeOutside({ name, prefix }: User): Promise<Outside> {
  const base = mkdtempSync(join(tmpdir(), 'skillrail-outside-'))
  const secret = `secret-${process.pid}-of-${name.replace(' ', '-')}`
  const granted = join(base, 'granted')
  const skill = join(granted, 'skill')
  const secretFile = join(base, 'secret')
  const socketFile = join(granted, 'socket')
  cpSync(programs, join(skill, 'scripts'), { recursive: true })
  writeFileSync(join(skill, 'SKILL.md'), '---\nname: skill\ndescription: Tries.\n---\n')
  writeFileSync(secretFile, secret, { mode: 0o644 })
  symlinkSync(secretFile, join(skill, 'link-to-secret'))
  mkdirSync(join(base, 'files'))
  for (const path of [base, granted, join(base, 'files')]) chmodSync(path, 0o777)
  const abstractName = `skillrail-${process.pid}-${name.replace(' ', '-')}`
  const loopback = await listen(createServer(), { port: 0, host: '127.0.0.1' })
  const servers = [
    loopback,
    await listen(createServer(), { path: `\0${abstractName}` }),
    await listen(createServer(), { path: socketFile }),
  ]
  chmodSync(socketFile, 0o777)
  const victims = [1, 2].map(() => victim(prefix))
  const marker = `left-behind-${process.pid}-${name.replace(' ', '-')}`
  const listing = (): string => {
    const names = readdirSync(skill, { recursive: true, encoding: 'utf8' }).toSorted()
    const texts = readdirSync(join(skill, 'scripts')).map((file) =>
      readFileSync(join(skill, 'scripts', file), 'utf8'),
    )
    return [
      ...names,
      ...readdirSync(base).toSorted(),
      readFileSync(secretFile, 'utf8'),
      ...texts,
    ].join()
  }
  const before = listing()
  const address = loopback.address()
  return {
    base,
    skill,
    granted,
    secret,
    secretFile,
    socketFile,
    abstractName,
    port: typeof address === 'object' && address !== null ? address.port : 0,
    processes: victims.flatMap(({ pid }) => pid ?? []),
    marker,
    changes: () => [
      ...(listing() === before ? [] : ['files outside changed']),
      ...(victims.every(isAlive) ? [] : ['a process outside was ended']),
      ...(isRunning(marker) ? ['a process was left behind'] : []),
      ...(readdirSync(join(base, 'files')).some((file) => file.endsWith('.output'))
        ? ['the output file was left behind']
        : []),
    ],
    async remove() {
      for (const child of victims) child.kill('SIGKILL')
      await Promise.all(servers.map((server) => new Promise((done) => server.close(done))))
      rmSync(base, { recursive: true, force: true })
    },
  }
}

function victim(prefix: readonly string[]): ChildProcess {
  const [file, ...args] = [...prefix, '/bin/sleep', '900']
  return spawn(file ?? '', args, { stdio: 'ignore', detached: true })
}

function isAlive(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}

/** A process that calls itself so; programs inside set their own name. */
function isRunning(marker: string): boolean {
  return readdirSync('/proc').some((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').startsWith(marker)
    } catch {
      return false
    }
  })
}

function listen(server: Server, where: Parameters<Server['listen']>[0]): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => resolve(server))
  })
}
