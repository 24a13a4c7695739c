import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Check, type Context, defineCommand, option, Serving } from '#core/command'
import { exitCode, messageOf, pointless, SkillrailError } from '#core/errors'
import { aborted, packageVersion } from '#core/runtime'
import { amount, safeLine } from '#core/text'
import type { AgentCliName } from '#exec/agent-clients'
import { discoverOptionsFrom, discoverSkills } from '#library/discover'
import { objectOf, type JsonValue } from '#core/json'
import type { ChainEvent, Executor } from '#chain/engine'
import { isChain, type PlannedStep, type PlannedTask, wordsOf } from '#chain/plan-model'
import { ask, requireVersion, RestateServerError, type ServerAddress } from '#chain/restate/client'
import {
  handlerNames,
  protocolVersion,
  serviceName,
  type WorkerReport,
} from '#chain/restate/protocol'
import type { Refused } from '#chain/restate/step-execution'
import { startWorker } from '#chain/restate/worker'
import type { RunStore } from '#chain/run-store'
import { type EngineChoice, serverAddress } from './execute.ts'
import { modelExecutorOf, viaExecutor } from './executors.ts'
import {
  type ChainProject,
  clientNamed,
  openProject,
  planKept,
  refusalIn,
  refuseWithoutModel,
  type RunContext,
  runSettings,
} from './project.ts'

interface WorkerResult {
  host: string
  port: number
  registered?: string | undefined
}

export const command = defineCommand<WorkerResult, ChainEvent>()({
  options: {
    port: option.integer('--port <port>', 'the port to listen on, else 9080', {
      least: 0,
      most: 65_535,
    }),
    host: option.text('--host <address>', 'the address to listen on, else 127.0.0.1'),
    register: option.text(
      '--register <url>',
      'register the worker with the server under this address',
    ),
    adminUrl: option.text('--admin-url <url>', 'the admin interface of the server, for --register'),
    via: option.list('--via <client>', 'allow this agent client (repeatable)'),
    model: option.list('--model <provider:name>', 'allow this model (repeatable)'),
    baseUrl: option.text('--base-url <url>', 'the address of the model server'),
    tools: option.text('--tools <names>', 'built-in tools for the models, or all'),
  },
  details: 'The settings restate.* set defaults.',
  examples: ['worker --port 9081 --register http://127.0.0.1:9080'],
  async run(context, values) {
    const { runtime, settings, signal } = context
    const { restate } = settings
    const project = openProject(context)
    const host = values.host ?? restate.workerHost
    const address = values.register ?? restate.workerAddress
    const models = givenOr(values.model, restate.models)
    const clients = givenOr(values.via, restate.via).flatMap((name) => clientNamed(name) ?? [])
    const allowance = { clients: [...new Set(clients)], models }
    const hint = 'Add --model provider:name, or set restate.models.'
    refuseWithoutModel(models.length > 0, values, hint)
    if (values.adminUrl !== undefined && address === '') {
      throw pointless('--admin-url', '--register', 'Add --register.')
    }
    const byModel = models.length === 0 ? [] : [await modelExecutorOf(project, values, models)]
    const worker = await startWorker({
      runtime,
      workspace: project.workspace,
      directory: join(project.store.directory, '../workers'),
      settings: runSettings(project),
      host,
      port: values.port ?? restate.workerPort,
      accept: acceptIn(project, allowance),
      executors: (files) => [...clientExecutors(project, allowance, files), ...byModel],
      report: () => ({ skills: skillsOf(project), clients: [...allowance.clients, ...models] }),
      restate,
      refusalOf: refusalIn(project),
      onEvent: (runId, event) => noteEvent(context, runId, event),
      onWarning: (message) => context.note(safeLine(message), 'detail'),
    })
    try {
      const { port } = worker
      context.note(`This worker listens on ${host}:${port}. Ctrl-C ends it.`)
      if (address !== '') await registerWorkers(context, address, values.adminUrl)
      const result = { host, port, registered: address || undefined }
      const ended = aborted(signal).then(async () => {
        await worker.close()
        return exitCode.done
      })
      return new Serving<WorkerResult>(result, ended)
    } catch (error) {
      await worker.close()
      throw error
    }
  },
  render: () => '',
})

function givenOr(given: readonly string[], setting: readonly string[]): readonly string[] {
  return given.length > 0 ? given : setting
}

function noteEvent(context: Context, runId: string, event: ChainEvent): void {
  if (event.type === 'step-finished') {
    context.note(`${runId}  ${safeLine(event.step)}  ${event.status}  ${event.durationMs} ms`)
  } else if (event.type === 'step-started') {
    context.note(`${runId}  ${safeLine(event.step)}  started`, 'detail')
  }
}

const registerPatienceMs = 30_000

async function registerWorkers(
  context: Context,
  uri: string,
  adminUrl: string | undefined,
): Promise<void> {
  const address = serverAddress(context, { adminUrl })
  const deadline = performance.now() + registerPatienceMs
  for (;;) {
    const isLate = performance.now() > deadline
    try {
      await requireVersion(address)
      const body = { uri, force: false }
      const answer = await ask(address, 'admin', '/deployments', { method: 'POST', body })
      if (answer.status < 300) {
        context.note(`The server at ${address.adminUrl} knows its workers at ${uri}.`)
        return
      }
      if (answer.status < 500 || isLate) throw notRegistered(uri, answer)
    } catch (error) {
      const isAway = error instanceof RestateServerError && error.code === 'restate-away'
      if (!isAway || isLate) throw error
    }
    await sleep(500, undefined, { signal: context.signal })
  }
}

function notRegistered(
  uri: string,
  { status, body }: { status: number; body: unknown },
): RestateServerError {
  const { message: told = '' } = objectOf<JsonValue>(body)
  return new RestateServerError(
    'restate-not-registered',
    `the server did not register ${uri} (HTTP ${status}): ${JSON.stringify(told)}`,
    'A changed service needs a new address (docs/scale.md).',
  )
}

interface WorkerAllowance {
  clients: readonly AgentCliName[]
  /** Models, as `provider:name`, compared with the plan as text. */
  models: readonly string[]
}

/** @throws {ChainPlanError} when a client is not installed. */
function clientExecutors(
  project: ChainProject,
  { clients }: WorkerAllowance,
  files: Pick<RunStore, 'directory'>,
): Executor[] {
  if (clients.length === 0) return []
  const byClient = new Map<string | undefined, Executor>(
    clients.map((client) => [client, viaExecutor(project, client, files)]),
  )
  const execute: Executor['execute'] = async (request) => {
    const executor = byClient.get(request.call.step.client)
    if (!executor) throw new Error('the worker has no such client')
    return await executor.execute(request)
  }
  return [{ kind: 'agent', execute }]
}

/**
 * Whether this worker may execute a step that was sent to it. The skill at its path is read and
 * planned anew: it must have the digest that the run was planned with, the trust of this machine,
 * and an allowed way of execution.
 */
function acceptIn(
  project: ChainProject,
  allowance: WorkerAllowance,
): (step: PlannedStep) => Refused | undefined {
  const known = new Set<string>()
  return (step) => {
    const how = isChain(step) ? [] : [step.executor, step.script, step.client, step.model]
    const place = [step.path, step.digest, ...how].join('\0')
    // A later edit is noticed by the check of the digest at every execution.
    if (known.has(place)) return undefined
    const refused = refusalOf(project, step, allowance)
    if (!refused) known.add(place)
    return refused
  }
}

function refusalOf(
  project: ChainProject,
  step: PlannedStep,
  allowance: WorkerAllowance,
): Refused | undefined {
  const directory = dirname(resolve(project.workspace, step.path))
  try {
    const own = ownStep(project, directory)
    const place = relative(project.workspace, directory)
    const changed = own.digest === step.digest ? undefined : `${place} has another digest here`
    const reason = changed ?? (isChain(step) ? undefined : notAllowed(step, allowance))
    return reason === undefined ? distrusted(own, step) : { kind: 'elsewhere', reason }
  } catch (error) {
    if (!(error instanceof SkillrailError)) throw error
    return { kind: 'elsewhere', reason: messageOf(error) }
  }
}

function distrusted(own: PlannedStep, step: PlannedStep): Refused | undefined {
  const refused = (code: 'skill-not-trusted' | 'sandbox-missing', why: string): Refused => {
    return { kind: 'refused', code, reason: `the skill ${step.skill} ${why}` }
  }
  // A skill that has a script is executed by it and by nothing else.
  if (isChain(own) !== isChain(step) || scriptOf(own) !== scriptOf(step)) {
    return refused('skill-not-trusted', 'is not executed as the run says')
  }
  if (own.trust !== 'trusted') {
    return refused('skill-not-trusted', 'is not trusted on this worker')
  }
  // The trust of this machine counts: the run may have been planned elsewhere.
  if (!own.sandboxed && !step.sandboxed) return undefined
  return refused('sandbox-missing', 'runs only in a sandbox, which workers do not have')
}

function scriptOf(step: PlannedStep): string | undefined {
  return isChain(step) ? undefined : step.script
}

function notAllowed(
  { executor, client = '', model = '' }: PlannedTask,
  { clients, models }: WorkerAllowance,
): string | undefined {
  if (executor === 'script') return undefined
  if (executor !== 'agent' && executor !== 'model') {
    return `workers do not execute steps by a ${executor}`
  }
  const ways = { agent: ['--via', client, clients], model: ['--model', model, models] } as const
  const [option, name, allowed] = ways[executor]
  if (allowed.some((one) => one === name)) return undefined
  return `a worker executes such steps only when it is started with ${option} ${name}`
}

export function skillsOf(project: ChainProject): WorkerReport['skills'] {
  const { runtime, settings }: RunContext = project.context
  const { skills } = discoverSkills(discoverOptionsFrom(runtime, settings))
  return skills.flatMap(({ name, directory }) => {
    try {
      return { name, digest: ownStep(project, directory).digest }
    } catch (error) {
      if (error instanceof SkillrailError) return []
      throw error
    }
  })
}

function ownStep(project: ChainProject, directory: string): PlannedStep {
  const { plan } = planKept(project, { request: { directory, set: [] }, mode: 'run' })
  const [first] = plan.root.steps
  const single = first !== undefined && first.path === plan.root.path && !isChain(first)
  return single ? first : plan.root
}

const questions = 12
/** Clocks that differ by more make the times in results misleading. */
const clockToleranceMs = 5000

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
    const advice = 'skillrail worker --register http://HOST:PORT'
    return problem(name, 'no Skillrail worker is registered with the server', advice)
  }
  const { body } = await ask(address, 'admin', `/deployments/${id}`)
  const { uri, sdk_version: sdk } = objectOf(body)
  return { name, status: 'ok', found: `workers at ${String(uri)}, ${String(sdk)}` }
}

async function checkWorkers(context: RunContext, address: ServerAddress): Promise<Check[]> {
  const before = context.runtime.now()
  const answers = await Promise.all(
    Array.from({ length: questions }, async () => await inspect(address)),
  )
  const elapsed = context.runtime.now() - before
  const workers = new Map(answers.flatMap((report) => (report ? [[report.worker, report]] : [])))
  if (workers.size === 0) {
    return [problem('worker', 'none answers', 'skillrail worker starts one.')]
  }
  const own = skillsOf(openProject(context))
  return [...workers.values()].map((report) => {
    const ahead = Math.max(before - report.now, report.now - before - elapsed)
    return checkWorker(report, own, ahead)
  })
}

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
