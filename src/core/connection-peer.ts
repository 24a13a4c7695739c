import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** A connection between two processes of this machine, as the server sees it. */
export interface LocalConnection {
  localPort: number
  remoteAddress: string
  remotePort: number
}

/**
 * Returns the processes that have the other end of a connection; none if the system does not say. The whole
 * address counts: 127.0.0.2 may use the port that another program uses at 127.0.0.1.
 */
export function peersOf(connection: LocalConnection, platform: NodeJS.Platform): readonly number[] {
  if (connection.remoteAddress !== '127.0.0.1') return []
  if (platform === 'linux') return linuxPeers(connection)
  return platform === 'darwin' ? macPeers(connection) : []
}

/** The connection's other end is a socket in `/proc/net`, which its process has among its files. */
function linuxPeers(connection: LocalConnection): readonly number[] {
  const socket = socketOf(connection)
  // A process of another account has no business here, and cannot be looked into.
  if (socket === undefined || socket.user !== process.getuid?.()) return []
  return processes().filter((pid) => hasSocket(pid, `socket:[${socket.inode}]`))
}

/** Finds the socket at the other end: its own address is the remote one. */
function socketOf({ localPort, remotePort }: LocalConnection) {
  const sockets = ['tcp', 'tcp6'].flatMap((table) =>
    linesOf(`/proc/net/${table}`).flatMap((line) => {
      // sl, local_address, rem_address, st, tx:rx, tr:tm, retrnsmt, uid, timeout, inode
      const [, local = '', remote = '', , , , , user, , inode = '0'] = line.trim().split(/\s+/)
      const isOtherEnd = isAt(local, remotePort) && isAt(remote, localPort) && inode !== '0'
      return isOtherEnd ? [{ inode, user: Number(user) }] : []
    }),
  )
  return sockets.length === 1 ? sockets[0] : undefined
}

/** Whether an address of `/proc/net` is 127.0.0.1 with a port, also as an address of IPv6. */
function isAt(address: string, port: number): boolean {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0')
  return [`0100007F:${hexPort}`, `${'0'.repeat(16)}FFFF00000100007F:${hexPort}`].includes(address)
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

/** Whether a process has a socket among its files. One that hides its files, as in a sandbox, has not. */
function hasSocket(pid: number, name: string): boolean {
  const directory = `/proc/${pid}/fd`
  try {
    return readdirSync(directory).some((file) => linkOf(join(directory, file)) === name)
  } catch {
    return false
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

/** `lsof` lists the processes of this account at both ends of a port. */
function macPeers({ remotePort }: LocalConnection): readonly number[] {
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const about = ['-nP', '-a', `-iTCP@127.0.0.1:${remotePort}`, '-sTCP:ESTABLISHED', '-Fp']
  const { stdout } = spawnSync('/usr/sbin/lsof', about, { encoding: 'utf8', timeout: 5000 })
  const listed = Array.from((stdout ?? '').matchAll(/^p(\d+)$/gm), ([, pid]) => Number(pid))
  return listed.filter((pid) => pid !== process.pid)
}
