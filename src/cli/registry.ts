import type { AnyCommand } from '#core/command'

export interface CommandEntry {
  /** The words of its name: `list`, `runs show`. The last one can be an option: `show --activate`. */
  name: string
  group: string
  summary: string
  load: () => Promise<AnyCommand>
}

const run = () => import('#commands/chain/run')
const runs = () => import('#commands/chain/runs')
const proof = () => import('#commands/chain/proof')
const continuing = () => import('#commands/chain/continue')
const worker = () => import('#commands/chain/worker')
const rail = () => import('#commands/chain/rail')
const stepper = () => import('#commands/chain/stepper')
const agent = () => import('#commands/agent/agent')
const delegate = () => import('#commands/agent/delegate')
const agents = () => import('#commands/agent/agents')
const servers = () => import('#commands/tools/servers')
const serve = () => import('#commands/tools/serve')
const auth = () => import('#commands/tools/auth')
const refresh = () => import('#commands/tools/refresh')
const list = () => import('#commands/tools/list')
const workflowList = () => import('#commands/tools/workflow-list')
const workflowChange = () => import('#commands/tools/workflow-change')
const sessions = () => import('#commands/tools/sessions')
const route = () => import('#commands/tools/route')
const toolsDo = () => import('#commands/tools/do')
const call = () => import('#commands/tools/call')
const steps = () => import('#commands/tools/steps')
const mcpServe = () => import('#mcp/command')
const libraryList = () => import('#commands/library/list')
const libraryShow = () => import('#commands/library/show')
const prompt = () => import('#commands/library/prompt')
const newSkill = () => import('#commands/skill/new')
const validate = () => import('#commands/skill/validate')
const audit = () => import('#commands/audit/audit')
const schema = () => import('#commands/skill/schema')
const match = () => import('#commands/trigger/match')
const triggersList = () => import('#commands/trigger/triggers-list')
const triggersCheck = () => import('#commands/trigger/triggers-check')
const triggersSuggest = () => import('#commands/trigger/triggers-suggest')
const triggersExport = () => import('#commands/trigger/triggers-export')
const indexFile = () => import('#commands/library/index-file')
const pluginPack = () => import('#commands/hooks/plugin-pack')
const hooks = () => import('#commands/hooks/hooks')
const usage = () => import('#commands/hooks/usage')
const hook = () => import('#commands/hooks/hook')
const trust = () => import('#commands/trust/trust')
const view = () => import('#view/command')
const doctor = () => import('./doctor.ts')
const overview = () => import('./overview.ts')
const completion = () => import('./completion.ts')

/** Summaries in `skillrail --help` for commands with two words. */
export const groupSummaries: Readonly<Record<string, string>> = {
  runs: 'List, show, resume, approve and retry runs',
  chain: 'Plan a chain, or let an agent execute it step by step',
  agent: 'Run a task with a model, tools and skills, or delegate it to a subagent',
  'agent subagents': 'List, show and validate subagents',
  tools: 'List, find and call tools of MCP servers, with workflows before calls',
  'tools workflow': 'Require other calls before a tool is called',
  'tools session': 'Show and clear completed prerequisites',
  mcp: 'Serve skills, tools and chains as an MCP server',
  triggers: 'Try, list, lint, measure and suggest triggers',
  hooks: 'Install the hook in agent clients, show its state, and pack plugins with it',
}

/** By what a user wants to do. */
const groups: Readonly<Record<string, Readonly<Record<string, Row>>>> = {
  'Write skills': {
    new: of('Create a skill, or with --rail a chain that an agent cannot skip', newSkill),
    'new --schema': of('Print the JSON Schema of the frontmatter', schema),
    validate: of('Validate skills against the specification, and fix safe problems', validate),
    list: of('List installed skills', libraryList),
    'list --prompt': of('Print the catalogue of skills for a system prompt', prompt),
    show: one('Show one skill: fields, resources, trust', libraryShow, 'show'),
    'show --properties': one('Print the properties of a skill as JSON', libraryShow, 'properties'),
    'show --activate': one(
      'Print what a model receives when a skill is activated',
      libraryShow,
      'activate',
    ),
    audit: of('Report what skills contain: hidden text, capabilities, secrets', audit),
  },
  'Work in your agent client': {
    trust: of('Trust a project, so that its skills can execute', trust),
    'hooks install': one(
      'Install the hook that injects references into agent clients',
      hooks,
      'install',
    ),
    'hooks uninstall': one(
      'Remove the hook from agent clients and restore their files',
      hooks,
      'uninstall',
    ),
    'hooks status': one('Show which clients have the hook, and whether it runs', hooks, 'status'),
    'hooks log': one('Show what the hook injected, and what it skipped', hooks, 'log'),
    'hooks run': of('Run the hook for one prompt of a client', hook),
    'hooks pack': of('Pack skills as plugins, with the hook for their triggers', pluginPack),
    rail: of('Decide about a chain in the session of an agent, from a terminal', rail),
    'triggers match': one('Show which triggers match a prompt, and why', match, 'match'),
    'triggers inject': one('Print the references that a prompt loads', match, 'inject'),
    'triggers list': of('List triggers and the token cost of each tier', triggersList),
    'triggers check': one('Lint triggers', triggersCheck, 'check'),
    'triggers eval': one('Measure triggers on labelled prompts', triggersCheck, 'evaluate'),
    'triggers suggest': of('Propose triggers from your own transcripts', triggersSuggest),
    'triggers export': of(
      'Write scripts/inject-context and the routing table into a skill',
      triggersExport,
    ),
    'triggers index': of(
      'Write the skill index into CLAUDE.md, AGENTS.md and similar files',
      indexFile,
    ),
    usage: of('Show which skills are used, and the tokens of each client', usage),
  },
  'Run chains': {
    run: of('Run a skill or a chain of skills', run),
    'runs list': one('List the runs of this project', runs, 'list'),
    'runs show': one('Show one run: steps, times, results', runs, 'show'),
    'runs logs': one('Print what the steps of a run printed', runs, 'logs'),
    'runs resume': one('Resume an interrupted run', continuing, 'resume'),
    'runs retry': one(
      'Rerun steps that failed or changed, and reuse the rest',
      continuing,
      'retry',
    ),
    'runs fork': one('Start a new run from a step of an old one', continuing, 'fork'),
    'runs cancel': one('Cancel a running or waiting run', runs, 'cancel'),
    'runs approve': one('Approve the gate a run waits at', continuing, 'approve'),
    'runs reject': one('Reject the gate a run waits at', continuing, 'reject'),
    'runs proof': one('Write a proof of a run for colleagues', proof, 'proof'),
    'runs check-proof': one('Check a proof against a commit', proof, 'check'),
    'runs import': one('Read a run that was written elsewhere', runs, 'importRun'),
    'runs prune': one('Remove runs that have ended', runs, 'prune'),
    'runs worker': of('Execute runs for a Restate server', worker),
    'chain plan': one('Show what a chain would run, and how', run, 'planCommand'),
    'chain start': one('Start a chain that an agent executes step by step', stepper, 'start'),
    'chain next': one('Show the step to execute now', stepper, 'next'),
    'chain report': one('Report a step result and get the next step', stepper, 'report'),
    'chain status': one('Show the progress of a chain', stepper, 'status'),
  },
  'Call tools': {
    'tools import': one(
      'Show configured MCP servers and which definition applies',
      servers,
      'imported',
    ),
    'tools servers': one('List the MCP servers, and test that they start', servers, 'servers'),
    'tools auth': of('Sign in at an MCP server with an address, or show who is signed in', auth),
    'tools serve': of('Keep the MCP servers of this project running between commands', serve),
    'tools refresh': of('Rebuild the cache of tools from the MCP servers', refresh),
    'tools list': one('List the known tools by category', list, 'list'),
    'tools show': one('Show one tool: parameters, hints, workflows', list, 'show'),
    'tools search': one('Search tools by keywords', list, 'search'),
    'tools route': of('Show which tool a request selects, and why', route),
    'tools do': of('Find the right tool for a request, and call it', toolsDo),
    'tools call': of('Call one tool, after its workflow prerequisites', call),
    'tools batch': one('Call up to ten tools in order', steps, 'batch'),
    'tools chain': one('Call up to five tools, passing results to later calls', steps, 'chain'),
    'tools workflow list': one(
      'List the workflows and the tools that they guard',
      workflowList,
      'list',
    ),
    'tools workflow add': one(
      'Add a workflow, from a template, a file or an editor',
      workflowChange,
      'add',
    ),
    'tools workflow edit': one('Change a workflow in an editor', workflowChange, 'edit'),
    'tools workflow enable': one('Enable a workflow', workflowChange, 'enable'),
    'tools workflow disable': one('Disable a workflow', workflowChange, 'disable'),
    'tools workflow remove': one('Delete a workflow', workflowChange, 'remove'),
    'tools workflow check': one('Find cycles, conflicts and missing tools', workflowList, 'check'),
    'tools workflow plan': one(
      'Show the prerequisites that would run before a call',
      workflowList,
      'plan',
    ),
    'tools session show': one(
      'Show the completed prerequisites and calls of a session',
      sessions,
      'show',
    ),
    'tools session clear': one(
      'Clear a session, so that prerequisites run again',
      sessions,
      'clear',
    ),
    'tools session list': one('List the sessions of this project', sessions, 'list'),
    'mcp serve': of('Serve skills, tools and chains of this project as an MCP server', mcpServe),
  },
  'Run agents': {
    agent: of('Run a task with a model, tools and skills', agent),
    'agent list': one('List the conversations of this project', agent, 'list'),
    'agent delegate': of('Delegate a task to a subagent', delegate),
    'agent subagents list': one(
      'List the subagents of this project and of the user',
      agents,
      'list',
    ),
    'agent subagents show': one('Show the tools, skills and text of a subagent', agents, 'show'),
    'agent subagents validate': one('Validate subagent files', agents, 'validate'),
  },
  'Look after this project': {
    view: of('Show skills, runs and tools of this project in a browser', view),
    doctor: of('Check this machine and this project', doctor),
    completion: of('Print the script that completes commands in a shell', completion),
  },
}

/** `skillrail` alone. */
export const home: CommandEntry = {
  name: '',
  group: 'Look after this project',
  ...of('Show the status of this project', overview),
}

/** Every other command, in the order of the help page. Each file is loaded only when it is called. */
export const commands: readonly CommandEntry[] = Object.entries(groups).flatMap(([group, rows]) =>
  Object.entries(rows).map(([name, row]) => ({ name, group, ...row })),
)

/** The options of every command, as commander takes them. */
export const globalOptions: readonly (readonly [flags: string, help: string])[] = [
  ['--json', 'print one JSON document'],
  ['-q, --quiet', 'print only results and errors'],
  ['-v, --verbose', 'print more diagnostics to stderr'],
  ['-C, --directory <dir>', 'run in this directory'],
  ['--trust-workspace', 'trust the skills of this project for this command'],
  ['--config <file>', 'read settings from this file; it takes precedence'],
]

/** Returns the command with the longest name that a command line begins with; its option can be anywhere. */
export function findCommand(
  words: readonly string[],
  options: readonly string[] = [],
): CommandEntry | undefined {
  const typed = words.map(inFull)
  const matches = commands.filter(({ name }) => {
    const nameWords = name.split(' ')
    const isOption = (word: string): boolean => word.startsWith('--')
    const hasOptions = nameWords.filter(isOption).every((option) => options.includes(option))
    const plainWords = nameWords.filter((word) => !isOption(word))
    return hasOptions && plainWords.every((word, at) => word === typed[at])
  })
  return matches.toSorted((one, other) => other.name.length - one.name.length)[0]
}

/** The commands below a name: `runs show` below `runs`, `show --activate` below `show`. */
export function commandsBelow(name: string): CommandEntry[] {
  return commands.filter((command) => command.name.startsWith(`${name} `))
}

/** Returns the word in a command's name that a word means. */
export function inFull(word: string): string {
  return word === 'ls' ? 'list' : word
}

type Row = Pick<CommandEntry, 'summary' | 'load'>

function of(summary: string, load: () => Promise<{ command: AnyCommand }>): Row {
  return { summary, load: async () => (await load()).command }
}

function one<Name extends string>(
  summary: string,
  load: () => Promise<Readonly<Record<NoInfer<Name>, AnyCommand>>>,
  name: Name,
): Row {
  return { summary, load: async () => (await load())[name] }
}
