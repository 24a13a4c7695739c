import type { Check, CheckContext } from '../core/check.ts'
import { hooksStatus, type PlatformStatus, probeHook } from './status.ts'

/** Whether the hook of each client is registered and will run; `probe` calls it as each client would. */
export async function checkHooks({ runtime }: CheckContext, probe: boolean): Promise<Check[]> {
  const { launcher, probe: call, platforms } = await hooksStatus(runtime)
  const registered = platforms.filter(
    ({ user, project }) => user.state !== 'absent' || project.state !== 'absent',
  )
  if (registered.length === 0) {
    const found = 'no client calls the hook'
    const advice = 'skillrail hooks install lets references arrive before the model runs.'
    return [{ name: 'hooks', status: 'information', found, advice }]
  }
  const works = launcher.state === 'current' && call?.ok === true
  const problem = call?.problem ?? `${launcher.state}, ${call?.durationMs ?? 0} ms a call`
  const found = `${launcher.path}: ${problem}`
  const advice = works ? undefined : 'skillrail hooks install brings it up to date.'
  const checks: Check[] = [
    { name: 'hook launcher', status: works ? 'ok' : 'warning', found, advice },
    ...registered.map(checkPlatform),
  ]
  for (const { platform, title } of probe ? registered : []) {
    const { ok, problem: wrong, durationMs } = await probeHook(runtime, platform)
    const answer = wrong ?? `answered in ${durationMs} ms`
    checks.push({ name: `${title} probe`, status: ok ? 'ok' : 'warning', found: answer })
  }
  return checks
}

function checkPlatform({ title, user, project, steps }: PlatformStatus): Check {
  const places = [user, project].filter(({ state }) => state !== 'absent')
  const isBad = places.some(({ state }) => state !== 'installed')
  const found = places.map((place) =>
    'reason' in place ? `${place.path}: ${place.reason}` : place.path,
  )
  return {
    name: `${title} hook`,
    status: isBad ? 'warning' : 'ok',
    found: found.join('; '),
    advice: isBad ? 'skillrail hooks install fixes it.' : steps.join(' ') || undefined,
  }
}
