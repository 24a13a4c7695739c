import { lstatSync, readlinkSync } from 'node:fs'
import type { SystemPath } from './bubblewrap-arguments.ts'

/** The programs and libraries of this machine, as far as they are there. */
export function systemPaths(network: boolean): SystemPath[] {
  const wanted = network ? [...everywhere, ...forNetwork] : everywhere
  return wanted.flatMap((path) => {
    try {
      if (!lstatSync(path).isSymbolicLink()) return [{ kind: 'bind', path } as const]
      const target = readlinkSync(path)
      // A link to somewhere that is not seen inside would be of no use: its content is put there.
      const inside = /^\/?(?:usr|nix)\//.test(target)
      return [
        inside ? ({ kind: 'link', path, target } as const) : ({ kind: 'bind', path } as const),
      ]
    } catch {
      return []
    }
  })
}

/** Nothing of `/etc` that names people, machines or secrets. */
const everywhere = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/nix/store',
  '/etc/alternatives',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/localtime',
]

const forNetwork = [
  '/etc/ca-certificates',
  '/etc/gai.conf',
  '/etc/hosts',
  '/etc/nsswitch.conf',
  '/etc/pki/tls/certs',
  '/etc/resolv.conf',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
]
