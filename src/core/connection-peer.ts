import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { systemCode } from './errors.ts'

/** The ports of a connection between two processes of this machine, as the server sees them. */
export interface LocalConnection {
  localPort: number
  remotePort: number
}

/** The processes that may be at the other end. */
export interface Peers {
  pids: readonly number[]
  /** Whether all of them hold the connection; otherwise, one of them does. */
  isCertain: boolean
}

const nobody: Peers = { pids: [], isCertain: false }

/** Returns the processes at the other end of a connection; none if the system does not say. */
export function peersOf(connection: LocalConnection, platform: NodeJS.Platform): Peers {
  if (platform === 'linux') return linuxPeers(connection)
  return platform === 'darwin' ? macPeers(connection) : nobody
}

/** The connection's other end is a socket in `/proc/net`, which its process has among its files. */
function linuxPeers(connection: LocalConnection): Peers {
  const socket = socketOf(connection)
  // A process of another account has no business here, and cannot be looked into.
  if (socket === undefined || socket.user !== process.getuid?.()) return nobody
  const name = `socket:[${socket.inode}]`
  const holders: number[] = []
  const unreadable: number[] = []
  for (const pid of processes()) {
    const holds = holdsSocket(pid, name)
    if (holds === true) holders.push(pid)
    if (holds === undefined && userOf(pid) === socket.user) unreadable.push(pid)
  }
  // A program in a sandbox of its own, such as a browser, hides its files.
  return holders.length > 0
    ? { pids: holders, isCertain: true }
    : { pids: unreadable, isCertain: false }
}

/** Finds the socket whose own port is the remote port. */
function socketOf({ localPort, remotePort }: LocalConnection) {
  for (const table of ['tcp', 'tcp6']) {
    for (const line of linesOf(`/proc/net/${table}`)) {
      // sl, local_address, rem_address, st, tx:rx, tr:tm, retrnsmt, uid, timeout, inode
      const [, local = '', remote = '', , , , , user, , inode = '0'] = line.trim().split(/\s+/)
      if (portOf(local) === remotePort && portOf(remote) === localPort && inode !== '0') {
        return { inode, user: Number(user) }
      }
    }
  }
  return undefined
}

function portOf(address: string): number {
  return Number.parseInt(address.slice(address.lastIndexOf(':') + 1), 16)
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'latin1').split('\n')
  } catch {
    return []
  }
}

function processes(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

/** Whether a process has a socket among its files; undefined if they cannot be read. */
function holdsSocket(pid: number, name: string): boolean | undefined {
  const directory = `/proc/${pid}/fd`
  try {
    return readdirSync(directory).some((file) => linkOf(join(directory, file)) === name)
  } catch (error) {
    const code = systemCode(error)
    return code === 'EACCES' || code === 'EPERM' ? undefined : false
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

/** The account of a process, also of one that hides its files. */
function userOf(pid: number): number | undefined {
  const line = linesOf(`/proc/${pid}/status`).find((one) => one.startsWith('Uid:'))
  return line === undefined ? undefined : Number(line.split(/\s+/)[1])
}

/** `lsof` lists the processes of this account at both ends of a port. */
function macPeers({ remotePort }: LocalConnection): Peers {
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const about = ['-nP', '-a', `-iTCP@127.0.0.1:${remotePort}`, '-sTCP:ESTABLISHED', '-Fp']
  const { stdout } = spawnSync('/usr/sbin/lsof', about, { encoding: 'utf8', timeout: 5000 })
  const listed = Array.from((stdout ?? '').matchAll(/^p(\d+)$/gm), ([, pid]) => Number(pid))
  const pids = listed.filter((pid) => pid !== process.pid)
  return { pids, isCertain: pids.length > 0 }
}
