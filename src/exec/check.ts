import type { Check, CheckContext } from '#core/command'
import { openSandbox } from './sandbox/open-sandbox.ts'

export async function checkSandbox({ settings }: CheckContext): Promise<Check> {
  const name = 'sandbox'
  if (settings.run.sandbox === 'refuse') {
    const text = 'scripts of untrusted skills are refused, as run.sandbox says'
    return { name, status: 'information', found: text }
  }
  const probe = await openSandbox()
  if (probe.ok) {
    const { program, note } = probe
    const text = `${program} is used for scripts of untrusted skills${note === undefined ? '' : `; ${note}`}`
    return { name, status: 'ok', found: text }
  }
  const text = `scripts of untrusted skills are refused: ${probe.reason}`
  const status = settings.run.sandbox === 'all' ? 'problem' : 'warning'
  return { name, status, found: text, advice: probe.hint }
}
