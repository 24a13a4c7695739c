import type { Check, CheckContext } from '../core/check.ts'
import { findWorkspace } from '../core/read-files.ts'
import { safeLine } from '../core/text.ts'
import { readServerConfiguration } from './config/read-configuration.ts'
import { signInState } from './server/sign-in.ts'

/** Who is signed in at the servers with an address. */
export function checkSignIns({ runtime, settings }: CheckContext): Check[] {
  const project = findWorkspace(runtime.cwd, runtime)
  const trust = settings.workspaceTrust
  const { servers } = readServerConfiguration({ project, runtime, trust })
  return servers.flatMap(({ name, transport, disabled }): Check[] => {
    if (transport.kind === 'stdio' || disabled) return []
    const state = signInState(transport, runtime)
    const found = state === 'given' ? 'its configuration gives it an Authorization header' : state
    const check = { name: `server ${safeLine(name)}`, found }
    if (state !== 'expired') return [{ ...check, status: 'information' }]
    return [{ ...check, status: 'warning', advice: `Run: skillrail tools auth ${safeLine(name)}` }]
  })
}
