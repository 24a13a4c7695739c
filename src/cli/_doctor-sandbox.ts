import { openSandbox } from '../exec/index.ts'
import type { Check } from './_doctor-checks.ts'
import type { CommandContext } from './command.ts'

/** Whether scripts of skills that are not trusted can run: by running a small one. */
export async function checkSandbox({ settings }: CommandContext): Promise<Check> {
  const name = 'sandbox'
  if (settings.run.sandbox === 'refuse') {
    const found = 'scripts of untrusted skills are refused, as run.sandbox says'
    return { name, status: 'information', found }
  }
  const probe = await openSandbox()
  if (probe.ok) {
    const { program, note } = probe
    const found = `${program} holds what it runs${note === undefined ? '' : `; ${note}`}`
    return { name, status: 'ok', found }
  }
  return {
    name,
    status: settings.run.sandbox === 'all' ? 'problem' : 'warning',
    found: `scripts of untrusted skills are refused: ${probe.reason}`,
    advice: probe.hint,
  }
}
