import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Check } from '#core/command'
import { messageOf } from '#core/errors'
import { objectOf } from '#core/json'
import { packageVersion } from '#core/runtime'
import { amount } from '#core/text'
import { wordsOf } from '#chain/plan-model'
import { ask, requireVersion, type ServerAddress } from '#chain/restate/client'
import {
  handlerNames,
  protocolVersion,
  serviceName,
  type WorkerReport,
} from '#chain/restate/protocol'
import { openProject, type RunContext } from './chains.ts'
import { type EngineChoice, serverAddress } from './engines.ts'
import { skillsOf } from './worker-rules.ts'

/** The checks of `doctor --engine restate`: the SDK, the server, its registration and its workers. */
export async function checkRestate(context: RunContext, options: EngineChoice): Promise<Check[]> {
  const address = serverAddress(context, options)
  const checks = [checkSdk()]
  try {
    const found = `Restate ${await requireVersion(address)} (${address.adminUrl})`
    checks.push({ name: 'restate server', status: 'ok', found }, await checkIngress(address))
    const registration = await checkRegistration(address)
    checks.push(registration)
    if (registration.status === 'ok') checks.push(...(await checkWorkers(context, address)))
  } catch (error) {
    checks.push(problem('restate server', messageOf(error), 'docs/scale.md says how to start one.'))
  }
  return checks
}

function checkSdk(): Check {
  const name = 'restate sdk'
  const sdk = '@restatedev/restate-sdk'
  try {
    const path = createRequire(import.meta.url).resolve(`${sdk}/package.json`)
    const { version } = JSON.parse(readFileSync(path, 'utf8'))
    return { name, status: 'ok', found: `${sdk} ${version}` }
  } catch {
    const found = `${sdk} is not installed; only a worker needs it`
    return { name, status: 'information', found, advice: `npm i ${sdk}` }
  }
}

async function checkIngress(address: ServerAddress): Promise<Check> {
  const { status } = await ask(address, 'ingress', '/restate/health')
  const name = 'restate ingress'
  if (status === 200) return { name, status: 'ok', found: address.url }
  return problem(name, `${address.url} answers with HTTP ${status}`, 'Name it with --url.')
}

async function checkRegistration(address: ServerAddress): Promise<Check> {
  const name = 'registration'
  const service = await ask(address, 'admin', `/services/${serviceName}`)
  const { deployment_id: id } = objectOf(service.body)
  if (typeof id !== 'string') {
    const advice = 'skillrail runs worker --register http://HOST:PORT'
    return problem(name, 'no Skillrail worker is registered with the server', advice)
  }
  const { body } = await ask(address, 'admin', `/deployments/${id}`)
  const { uri, sdk_version: sdk } = objectOf(body)
  return { name, status: 'ok', found: `workers at ${String(uri)}, ${String(sdk)}` }
}

const questions = 12

async function checkWorkers(context: RunContext, address: ServerAddress): Promise<Check[]> {
  const before = context.runtime.now()
  const answers = await Promise.all(
    Array.from({ length: questions }, async () => await inspect(address)),
  )
  const elapsed = context.runtime.now() - before
  const workers = new Map(answers.flatMap((report) => (report ? [[report.worker, report]] : [])))
  if (workers.size === 0) {
    return [problem('worker', 'none answers', 'skillrail runs worker starts one.')]
  }
  const own = skillsOf(openProject(context))
  return [...workers.values()].map((report) => {
    const ahead = Math.max(before - report.now, report.now - before - elapsed)
    return checkWorker(report, own, ahead)
  })
}

/** Clocks that differ by more make the times in results misleading. */
const clockToleranceMs = 5000

function checkWorker(report: WorkerReport, own: WorkerReport['skills'], ahead: number): Check {
  const { worker, host, skillrail, version, node, skills, clients = [] } = report
  const digests = new Set(skills.map(({ digest }) => digest))
  const missing = own.filter(({ digest }) => !digests.has(digest)).map(({ name }) => name)
  const others = missing.slice(0, 5).join(', ')
  const worries = wordsOf(
    version !== protocolVersion && `protocol version ${version} instead of ${protocolVersion}`,
    skillrail !== packageVersion() && 'another version of Skillrail',
    ahead > clockToleranceMs && `its clock differs by ${Math.round(ahead / 1000)} s from ours`,
    missing.length > 0 && `it has other versions of ${others}, or none`,
  )
  const uses = clients.length > 0 && `can use ${clients.join(', ')}`
  const amounts = amount(skills.length, 'skill')
  const facts = `${worker} on ${host}: skillrail ${skillrail}, Node ${node}, ${amounts}`
  return {
    name: 'worker',
    status: worries.length === 0 ? 'ok' : 'warning',
    found: wordsOf(facts, uses, ...worries).join('; '),
    advice: missing.length === 0 ? undefined : 'Ship the same skills to every worker.',
  }
}

async function inspect(address: ServerAddress): Promise<WorkerReport | undefined> {
  const signal = AbortSignal.timeout(10_000)
  const request = { method: 'POST', signal } as const
  try {
    const path = `/${serviceName}/${handlerNames.inspect}`
    const { status, body } = await ask(address, 'ingress', path, request)
    return status === 200 && isReport(body) ? body : undefined
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
}

function isReport(body: unknown): body is WorkerReport {
  const { worker, host } = objectOf(body)
  return typeof worker === 'string' && typeof host === 'string'
}

function problem(name: string, found: string, advice: string): Check {
  return { name, status: 'problem', found, advice }
}
