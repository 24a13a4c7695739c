const specification = 'https://agentskills.io/specification'
const fact = 'Skillrail: a fact, not a judgement'

/** What a skill asks for, or can do when somebody follows it. Facts with places. */
export const capabilityRules = {
  'tool-requested': {
    severity: 'info',
    sentence: 'A tool that `allowed-tools` asks for.',
    source: `${specification}#allowed-tools-field`,
  },
  'skill-behaviour': {
    severity: 'info',
    sentence: 'A field that starts something: `run`, `chain`, `context`, `agent`, `model`.',
    source: 'Skillrail: fields of the frontmatter',
  },
  hooks: {
    severity: 'info',
    sentence: 'Hooks, which an agent client runs by itself.',
    source: 'https://code.claude.com/docs/en/hooks',
  },
  'trigger-broad': {
    severity: 'info',
    sentence: 'A trigger that fires on whatever is typed.',
    source: 'Skillrail: triggers',
  },
  'embedded-command': {
    severity: 'info',
    sentence: 'A command in the text that some clients run before the model reads it.',
    source: 'https://code.claude.com/docs/en/skills',
  },
  script: {
    severity: 'info',
    sentence: 'A script, its language, and what starts it.',
    source: `${specification}#scripts`,
  },
  'mcp-configuration': {
    severity: 'info',
    sentence: 'Configuration of MCP servers, or a command that adds one.',
    source: fact,
  },
  'agent-configuration': {
    severity: 'info',
    sentence: 'Files or options that decide what an agent client may do.',
    source: fact,
  },
  'network-address': {
    severity: 'info',
    sentence: 'A host that is named in an address.',
    source: fact,
  },
  'network-call': {
    severity: 'info',
    sentence: 'A program or function that talks to the network.',
    source: fact,
  },
  'download-and-run': {
    severity: 'info',
    sentence: 'A download that goes straight into an interpreter.',
    source: fact,
  },
  'credential-variable': {
    severity: 'info',
    sentence: 'An environment variable that is named like a secret.',
    source: fact,
  },
  'credential-file': {
    severity: 'info',
    sentence: 'A file in which a system or a client keeps credentials.',
    source: fact,
  },
  'shell-execution': {
    severity: 'info',
    sentence: 'Code that starts programs.',
    source: fact,
  },
  evaluation: {
    severity: 'info',
    sentence: 'Code that runs text as code.',
    source: fact,
  },
  'package-install': {
    severity: 'info',
    sentence: 'A command that installs or fetches packages.',
    source: fact,
  },
  persistence: {
    severity: 'info',
    sentence:
      'Something that starts later or again: schedules, services, shell profiles, Git hooks.',
    source: fact,
  },
  privilege: {
    severity: 'info',
    sentence: 'A command that raises rights or loosens them.',
    source: fact,
  },
  deletion: {
    severity: 'info',
    sentence: 'A command that deletes or overwrites without asking.',
    source: fact,
  },
  'encoded-data': {
    severity: 'info',
    sentence: 'Data in a form that nobody reads: long base64, hexadecimal or escaped text.',
    source: fact,
  },
  decoding: {
    severity: 'info',
    sentence: 'Code that decodes such data.',
    source: fact,
  },
  'decode-and-run': {
    severity: 'warning',
    sentence: 'No decoded data goes straight into an interpreter.',
    source: 'https://attack.mitre.org/techniques/T1140/',
  },
  'override-phrase': {
    severity: 'info',
    sentence: 'A sentence that sets earlier instructions aside.',
    source: fact,
  },
  'concealment-phrase': {
    severity: 'info',
    sentence: 'A sentence that asks to keep something from the user.',
    source: fact,
  },
} as const
