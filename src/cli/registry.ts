import type { AnyCommand } from '../core/command.ts'

/** One line of `skillrail --help`, and where the command lives. */
export interface CommandEntry {
  /** The words that call it: `list`, `runs show`. */
  name: string
  group: CommandGroup
  summary: string
  load: () => Promise<AnyCommand>
}

export type CommandGroup =
  | 'Run'
  | 'Chain'
  | 'Agent'
  | 'Tools'
  | 'Library'
  | 'Author'
  | 'Triggers'
  | 'Machine'

const run = () => import('../chain/commands/run.ts')
const runs = () => import('../chain/commands/runs.ts')
const repeat = () => import('../chain/commands/repeat.ts')
const gates = () => import('../chain/commands/gates.ts')
const worker = () => import('../chain/commands/worker.ts')
const plan = () => import('../chain/commands/plan.ts')
const stepper = () => import('../chain/commands/stepper.ts')
const agent = () => import('../agent/commands/agent.ts')
const delegate = () => import('../agent/commands/delegate.ts')
const agents = () => import('../agent/commands/agents.ts')
const toolsImport = () => import('../tools/commands/import.ts')
const servers = () => import('../tools/commands/servers.ts')
const serve = () => import('../tools/commands/serve.ts')
const refresh = () => import('../tools/commands/refresh.ts')
const list = () => import('../tools/commands/list.ts')
const show = () => import('../tools/commands/show.ts')
const search = () => import('../tools/commands/search.ts')
const workflowList = () => import('../tools/commands/workflow-list.ts')
const workflowAdd = () => import('../tools/commands/workflow-add.ts')
const workflowEdit = () => import('../tools/commands/workflow-edit.ts')
const workflowToggle = () => import('../tools/commands/workflow-toggle.ts')
const workflowRemove = () => import('../tools/commands/workflow-remove.ts')
const workflowCheck = () => import('../tools/commands/workflow-check.ts')
const workflowPlan = () => import('../tools/commands/workflow-plan.ts')
const sessions = () => import('../tools/commands/sessions.ts')
const route = () => import('../tools/commands/route.ts')
const learned = () => import('../tools/commands/learned.ts')
const toolsDo = () => import('../tools/commands/do.ts')
const call = () => import('../tools/commands/call.ts')
const steps = () => import('../tools/commands/steps.ts')
const mcpServe = () => import('../mcp/command.ts')
const libraryList = () => import('../library/commands/list.ts')
const libraryShow = () => import('../library/commands/show.ts')
const properties = () => import('../skill/commands/properties.ts')
const prompt = () => import('../library/commands/prompt.ts')
const activate = () => import('../library/commands/activate.ts')
const newSkill = () => import('../skill/commands/new.ts')
const validate = () => import('../skill/commands/validate.ts')
const audit = () => import('../audit/commands/audit.ts')
const schema = () => import('../skill/commands/schema.ts')
const match = () => import('../trigger/commands/match.ts')
const inject = () => import('../trigger/commands/inject.ts')
const triggersList = () => import('../trigger/commands/triggers-list.ts')
const triggersCheck = () => import('../trigger/commands/triggers-check.ts')
const triggersExport = () => import('../trigger/commands/triggers-export.ts')
const indexFile = () => import('../library/commands/index-file.ts')
const install = () => import('../hooks/commands/install.ts')
const status = () => import('../hooks/commands/status.ts')
const log = () => import('../hooks/commands/log.ts')
const hook = () => import('../hooks/commands/hook.ts')
const trust = () => import('../trust/commands/trust.ts')
const view = () => import('../view/command.ts')
const doctor = () => import('./doctor.ts')

/** Every command, in the order of the help page. Each file is loaded only when it is called. */
export const commands: readonly CommandEntry[] = [
  ...group('Run', {
    run: of('Run a skill or a chain of skills', run, 'command'),
    'runs list': of('List the runs of this project', runs, 'list'),
    'runs show': of('Show one run: steps, times, results', runs, 'show'),
    'runs resume': of('Resume an interrupted run', repeat, 'resume'),
    'runs retry': of('Rerun steps that failed or changed, and reuse the rest', repeat, 'retry'),
    'runs fork': of('Start a new run from a step of an old one', repeat, 'fork'),
    'runs cancel': of('Cancel a running or waiting run', runs, 'cancel'),
    'runs approve': of('Approve the gate a run waits at', gates, 'approve'),
    'runs reject': of('Reject the gate a run waits at', gates, 'reject'),
    'runs prune': of('Remove runs that have ended', runs, 'prune'),
    worker: of('Execute runs for a Restate server', worker, 'command'),
  }),
  ...group('Chain', {
    'chain plan': of('Show what a chain would run, and how', plan, 'command'),
    'chain start': of('Start a chain that an agent executes step by step', stepper, 'start'),
    'chain next': of('Show the step to execute now', stepper, 'next'),
    'chain report': of('Report a step result and get the next step', stepper, 'report'),
    'chain status': of('Show the progress of a chain', stepper, 'status'),
  }),
  ...group('Agent', {
    agent: of('Run a task with a model, tools and skills', agent, 'command'),
    delegate: of('Delegate a task to a subagent', delegate, 'command'),
    'agents list': of('List the subagents of this project and of the user', agents, 'list'),
    'agents show': of('Show one subagent: its tools, skills and instructions', agents, 'show'),
    'agents validate': of('Validate subagent files', agents, 'validate'),
  }),
  ...group('Tools', {
    'tools import': of(
      'Show configured MCP servers and which definition applies',
      toolsImport,
      'command',
    ),
    'tools servers': of('List the MCP servers, and test that they start', servers, 'command'),
    'tools serve': of(
      'Keep the MCP servers of this project running between commands',
      serve,
      'command',
    ),
    'tools refresh': of('Rebuild the cache of tools from the MCP servers', refresh, 'command'),
    'tools list': of('List the known tools by category', list, 'command'),
    'tools show': of('Show one tool: parameters, hints, workflows', show, 'command'),
    'tools search': of('Search tools by keywords', search, 'command'),
    'workflow list': of(
      'List the workflows and the tools that they guard',
      workflowList,
      'command',
    ),
    'workflow add': of('Add a workflow, from a template or from options', workflowAdd, 'command'),
    'workflow edit': of('Change a workflow', workflowEdit, 'command'),
    'workflow enable': of('Enable a workflow', workflowToggle, 'enable'),
    'workflow disable': of('Disable a workflow', workflowToggle, 'disable'),
    'workflow remove': of('Delete a workflow', workflowRemove, 'command'),
    'workflow check': of('Find cycles, conflicts and missing tools', workflowCheck, 'command'),
    'workflow plan': of(
      'Show the prerequisites that would run before a call',
      workflowPlan,
      'command',
    ),
    'session show': of('Show the completed prerequisites and calls of a session', sessions, 'show'),
    'session clear': of('Clear a session, so that prerequisites run again', sessions, 'clear'),
    'session list': of('List the sessions of this project', sessions, 'list'),
    'tools route': of('Show which tool a request selects, and why', route, 'command'),
    'tools learn add': of('Add a learned request for a tool', learned, 'add'),
    'tools learn list': of('List the learned requests of this project', learned, 'list'),
    'tools learn remove': of('Remove a learned request, or all of a tool', learned, 'remove'),
    'tools learn clear': of('Remove all learned requests of this project', learned, 'clear'),
    'tools do': of('Find the right tool for a request, and call it', toolsDo, 'command'),
    'tools call': of('Call one tool, after its workflow prerequisites', call, 'command'),
    'tools batch': of('Call up to ten tools in order', steps, 'batch'),
    'tools chain': of('Call up to five tools, passing results to later calls', steps, 'chain'),
    'mcp serve': of(
      'Serve skills, tools and chains of this project as an MCP server',
      mcpServe,
      'command',
    ),
  }),
  ...group('Library', {
    list: of('List installed skills', libraryList, 'command'),
    show: of('Show one skill: fields, resources, trust', libraryShow, 'command'),
    properties: of('Print the properties of a skill as JSON', properties, 'command'),
    prompt: of('Print the catalogue of skills for a system prompt', prompt, 'command'),
    activate: of('Print what a model receives when a skill is activated', activate, 'command'),
  }),
  ...group('Author', {
    new: of('Create a new skill', newSkill, 'command'),
    validate: of(
      'Validate skills against the specification, and fix safe problems',
      validate,
      'command',
    ),
    audit: of('Report what skills contain: hidden text, capabilities, secrets', audit, 'command'),
    schema: of('Print the JSON Schema of the frontmatter', schema, 'command'),
  }),
  ...group('Triggers', {
    match: of('Show which triggers match a prompt, and why', match, 'command'),
    inject: of('Print the references that a prompt loads', inject, 'command'),
    'triggers list': of('List triggers and the token cost of each tier', triggersList, 'command'),
    'triggers check': of('Lint triggers', triggersCheck, 'command'),
    'triggers export': of(
      'Write scripts/inject-context and the routing table into a skill',
      triggersExport,
      'command',
    ),
    index: of(
      'Write the skill index into CLAUDE.md, AGENTS.md and similar files',
      indexFile,
      'command',
    ),
  }),
  ...group('Machine', {
    'hooks install': of(
      'Install the hook that injects references into agent clients',
      install,
      'install',
    ),
    'hooks uninstall': of(
      'Remove the hook from agent clients and restore their files',
      install,
      'uninstall',
    ),
    'hooks status': of(
      'Show which clients have the hook, and whether it will run',
      status,
      'command',
    ),
    'hook log': of('Show what the hook injected, and what it skipped', log, 'command'),
    hook: of('Run the hook for one prompt of a client', hook, 'command'),
    trust: of('Trust a project, so that its skills can execute', trust, 'command'),
    view: of('Show skills, runs and tools of this project in a browser', view, 'command'),
    doctor: of('Check this machine and this project', doctor, 'command'),
  }),
]

type Row = Pick<CommandEntry, 'summary' | 'load'>

function group(title: CommandGroup, rows: Readonly<Record<string, Row>>): CommandEntry[] {
  return Object.entries(rows).map(([name, row]) => ({ name, group: title, ...row }))
}

/** A command of a file that is loaded when the command is called. */
function of<Name extends string>(
  summary: string,
  load: () => Promise<Readonly<Record<NoInfer<Name>, AnyCommand>>>,
  name: Name,
): Row {
  return { summary, load: async () => (await load())[name] }
}
