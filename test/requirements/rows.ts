/** A row of the requirements: what it asks for, and how that is shown. */
export interface Row {
  readonly id: string
  readonly asks: string
  /** The titles of its tests by file, as the file has them. */
  readonly tests?: Readonly<Record<string, readonly string[]>>
  /** The measurement of a row about time, since no test asserts a time. */
  readonly bench?: string
  /** Why the product does not do it as written. */
  readonly differs?: string
}

export interface Section {
  readonly title: string
  readonly rows: readonly Row[]
}

/** The requirements for skills and subagents, in short words. */
export const sections: readonly Section[] = [
  {
    title: 'US-001: a skill is a file',
    rows: [
      {
        id: 'US-001 AC1',
        asks: 'frontmatter is parsed; name and description are required',
        tests: { 'test/skill/spec-rules.test.ts': ['requires a name and a description'] },
      },
      {
        id: 'US-001 AC2',
        asks: 'every field of the specification',
        tests: { 'test/skill/fields.test.ts': ['reads the line %j into the field %s'] },
      },
      {
        id: 'US-001 AC3',
        asks: 'the extension fields',
        tests: { 'test/skill/fields.test.ts': ['reads the line %j into the field %s'] },
      },
      {
        id: 'US-001 AC4',
        asks: 'the form of a name',
        tests: { 'test/skill/spec-rules.test.ts': ['reports for the name %j exactly %j'] },
      },
      {
        id: 'US-001 AC5',
        asks: 'the Markdown body is the instructions',
        tests: {
          'test/library/activation.test.ts': ['substitutes the arguments and wraps the body'],
        },
      },
      {
        id: 'US-001 AC6',
        asks: 'scripts, references and assets are indexed',
        tests: {
          'test/library/requirements.test.ts': [
            'indexes scripts, references and assets without reading them',
          ],
        },
      },
      {
        id: '5.1 edge 1',
        asks: 'no frontmatter',
        tests: {
          'test/library/requirements.test.ts': [
            'throws SkillParseError for a file without frontmatter',
          ],
        },
      },
      {
        id: '5.1 edge 2',
        asks: 'a required field is missing',
        tests: {
          'test/library/register-incomplete.test.ts': [
            'is refused with %j, and the error lists every missing field',
          ],
          'test/library/requirements.test.ts': ['lists every missing field'],
        },
      },
      {
        id: '5.1 edge 3',
        asks: 'a name in upper case',
        tests: {
          'test/library/requirements.test.ts': [
            'reports a name in upper case as an error, and loads the skill with a warning',
            'loads a skill with a name %s with a warning',
          ],
        },
        differs:
          '`validate` reports an error, loading a warning: docs/decisions/2026-11-28-lenient-loading.md.',
      },
      {
        id: '5.1 edge 4',
        asks: 'a name that is not the directory’s',
        tests: {
          'test/library/requirements.test.ts': [
            'reports a name that differs from the directory as an error, and loads the skill with a warning',
          ],
        },
        differs:
          '`validate` reports an error, loading a warning: docs/decisions/2026-11-28-lenient-loading.md.',
      },
      {
        id: '5.1 edge 5',
        asks: 'an empty body',
        tests: {
          'test/library/requirements.test.ts': ['activates a skill without instructions'],
          'test/skill/bad-input.test.ts': ['loads a file with %s'],
        },
      },
      {
        id: '5.1 edge 6',
        asks: 'a very long body',
        tests: {
          'test/library/requirements.test.ts': ['accepts %s and warns on load if it is too long'],
          'test/skill/advice.test.ts': ['counts lines and tokens'],
        },
      },
      {
        id: '5.1 error 1',
        asks: 'the file does not exist',
        tests: { 'test/library/manager.test.ts': ['refuses to register a path %s'] },
      },
      {
        id: '5.1 error 2',
        asks: 'invalid YAML',
        tests: { 'test/skill/bad-input.test.ts': ['reports one clear error for %s'] },
      },
      {
        id: '5.1 error 3',
        asks: 'a field that breaks its rule',
        tests: { 'test/skill/spec-rules.test.ts': ['reports for the frontmatter %j exactly %j'] },
      },
      {
        id: '5.1 error 4',
        asks: 'the disk refuses',
        tests: {
          'test/library/discover.test.ts': [
            'are reported, like directories, and the rest is found',
          ],
        },
      },
    ],
  },
  {
    title: 'US-002: skills are discovered',
    rows: [
      {
        id: 'US-002 AC1',
        asks: 'in the project',
        tests: {
          'test/library/manager.test.ts': ['discovers skills in the directories of its options'],
        },
      },
      {
        id: 'US-002 AC2',
        asks: 'in the user’s home',
        tests: {
          'test/library/manager.test.ts': ['discovers skills in the directories of its options'],
        },
      },
      {
        id: 'US-002 AC3',
        asks: 'in custom paths',
        tests: {
          'test/library/manager.test.ts': ['discovers skills in the directories of its options'],
        },
      },
      {
        id: 'US-002 AC4',
        asks: 'project before user before custom',
        tests: {
          'test/library/locations.test.ts': [
            'orders project before user before custom, or user first if the options say so',
          ],
        },
      },
      {
        id: 'US-002 AC5',
        asks: 'metadata first, body on activation, references on demand',
        tests: {
          'test/library/manager.test.ts': ['reads the body of a skill in get and not before'],
        },
      },
      {
        id: '5.2 edge 1',
        asks: 'an empty directory',
        tests: {
          'test/library/discover.test.ts': [
            'finds nothing and reports nothing in a project without skills',
          ],
        },
      },
      {
        id: '5.2 edge 2',
        asks: 'one name in two scopes',
        tests: {
          'test/library/discover.test.ts': [
            'prefers the project over the user for one name and reports which skill is hidden',
          ],
        },
      },
      {
        id: '5.2 edge 3',
        asks: 'one name twice in one scope',
        tests: { 'test/library/manager.test.ts': ['throws for skills that cannot be used'] },
      },
      {
        id: '5.2 edge 4',
        asks: 'a directory without a SKILL.md',
        tests: {
          'test/library/discover.test.ts': ['reports a directory of skills without a SKILL.md'],
        },
      },
      {
        id: '5.2 edge 5',
        asks: 'a skill that refers to itself',
        tests: { 'test/library/manager.test.ts': ['refuses to register a path %s'] },
      },
    ],
  },
  {
    title: 'US-003: skills are registered in code',
    rows: [
      {
        id: 'US-003 AC1',
        asks: 'register',
        tests: {
          'test/library/manager.test.ts': [
            'registers a skill from code as trusted and with precedence',
          ],
        },
      },
      {
        id: 'US-003 AC2',
        asks: 'deregister',
        tests: {
          'test/library/manager.test.ts': [
            'removes a skill, its tools and its activation in deregister',
          ],
        },
      },
      {
        id: 'US-003 AC3',
        asks: 'list gives metadata',
        tests: {
          'test/library/manager.test.ts': [
            'registers a skill from code as trusted and with precedence',
          ],
        },
      },
      {
        id: 'US-003 AC4',
        asks: 'get gives the skill or nothing',
        tests: {
          'test/library/manager.test.ts': ['reads the body of a skill in get and not before'],
        },
      },
      {
        id: 'US-003 AC5',
        asks: 'a conflict of names is an error',
        tests: {
          'test/library/manager.test.ts': [
            'accepts a skill twice and refuses another skill of its name',
          ],
        },
      },
      {
        id: 'US-003 AC6',
        asks: 'tools carry the name of their skill, unless switched off',
        tests: {
          'test/library/manager.test.ts': [
            'prefixes tools with the name of their skill, unless namespaceTools is false',
          ],
        },
      },
    ],
  },
  {
    title: 'US-004: who invokes a skill',
    rows: [
      {
        id: 'US-004 AC1',
        asks: 'not the model, with disable-model-invocation',
        tests: {
          'test/agent/skills/activation.test.ts': [
            'hides a skill with disable-model-invocation from the model, but not from the user',
          ],
          'test/library/manager.test.ts': ['checks who invokes a skill before anything else'],
        },
      },
      {
        id: 'US-004 AC2',
        asks: 'not the user, with user-invocable: false',
        tests: {
          'test/agent/skills/activation.test.ts': [
            'refuses a skill with user-invocable: false to the user, but not to the model',
          ],
          'test/library/activation.test.ts': ['allows %s to activate a skill with %j: %s'],
        },
      },
      {
        id: 'US-004 AC3',
        asks: 'everybody by default',
        tests: {
          'test/agent/skills/activation.test.ts': [
            'returns the content of a skill, with its arguments, to a model that activates it',
          ],
          'test/library/activation.test.ts': ['allows %s to activate a skill with %j: %s'],
        },
      },
      {
        id: 'US-004 AC4',
        asks: 'permission is checked first',
        tests: {
          'test/library/manager.test.ts': ['checks who invokes a skill before anything else'],
        },
      },
      {
        id: 'US-004 AC5',
        asks: 'the body is loaded on activation',
        tests: {
          'test/library/activation.test.ts': ['substitutes the arguments and wraps the body'],
        },
      },
      {
        id: 'US-004 AC6',
        asks: 'arguments are substituted',
        tests: {
          'test/agent/skills/activation.test.ts': [
            'returns the content of a skill, with its arguments, to a model that activates it',
          ],
          'test/library/activation.test.ts': ['substitutes the arguments and wraps the body'],
        },
      },
      {
        id: 'US-004 AC7',
        asks: 'allowed tools are registered',
        tests: {
          'test/agent/skills/activation.test.ts': [
            'offers the tools of a skill exactly while it is active',
          ],
          'test/library/manager.test.ts': [
            "returns a skill's tools while the skill is active, and the earlier tools afterwards",
          ],
        },
      },
      {
        id: 'US-004 AC8',
        asks: 'the processed content is returned',
        tests: {
          'test/library/activation.test.ts': ['substitutes the arguments and wraps the body'],
        },
      },
      {
        id: 'US-004 AC9',
        asks: 'deactivation restores the tools',
        tests: {
          'test/agent/skills/activation.test.ts': [
            'offers the tools of a skill exactly while it is active',
          ],
          'test/library/manager.test.ts': [
            "returns a skill's tools while the skill is active, and the earlier tools afterwards",
          ],
        },
      },
    ],
  },
  {
    title: 'US-005: arguments',
    rows: [
      {
        id: 'US-005 AC1',
        asks: '$ARGUMENTS is the whole text',
        tests: {
          'test/agent/skills/activation.test.ts': [
            'passes the rest of a typed prompt as the arguments of the skill',
          ],
          'test/library/requirements.test.ts': ['replaces ARGUMENTS with the whole text'],
        },
      },
      {
        id: 'US-005 AC2',
        asks: '$ARGUMENTS[N] and $N are positional, from 0',
        tests: {
          'test/library/requirements.test.ts': ['replaces positional placeholders, counted from 0'],
        },
      },
      {
        id: 'US-005 AC3',
        asks: 'without a placeholder they are appended',
        tests: {
          'test/library/requirements.test.ts': [
            'appends arguments to a body without a placeholder',
          ],
        },
      },
      {
        id: '5.3 edge 1',
        asks: 'none given',
        tests: {
          'test/library/requirements.test.ts': [
            'replaces ARGUMENTS with nothing if there are no arguments',
          ],
        },
      },
      {
        id: '5.3 edge 2',
        asks: 'more than placeholders',
        tests: {
          'test/library/requirements.test.ts': [
            'keeps arguments without a positional placeholder in ARGUMENTS',
          ],
        },
      },
      {
        id: '5.3 edge 3',
        asks: 'fewer than placeholders',
        tests: {
          'test/library/requirements.test.ts': [
            'replaces positional placeholders without an argument with nothing',
          ],
        },
        differs:
          'Without any argument, a skill that declares none keeps `$1` as text: docs/decisions/2026-11-28-arguments.md.',
      },
      {
        id: '5.3 edge 4',
        asks: 'quoted text is one argument',
        tests: { 'test/library/requirements.test.ts': ['keeps quoted text as one argument'] },
      },
    ],
  },
  {
    title: 'US-006: validation and trust',
    rows: [
      {
        id: 'US-006 AC1',
        asks: 'validation by the specification and the extensions',
        tests: { 'test/skill/spec-rules.test.ts': ['reports for the frontmatter %j exactly %j'] },
      },
      {
        id: 'US-006 AC2',
        asks: 'trusted and untrusted, with defaults by place',
        tests: {
          'test/library/manager.test.ts': [
            "trusts the user's skills and the skills of an accepted project, and no others",
          ],
        },
        differs:
          'A project’s skills are trusted once its workspace is: a cloned repository must not be able to act by itself. `workspaceTrust: "trusted"` gives the default of the requirements.',
      },
      {
        id: 'US-006 AC3',
        asks: 'untrusted: allowed-tools grants nothing',
        tests: {
          'test/agent/skills/activation.test.ts': [
            'lets an untrusted skill narrow the tools, and approve nothing, run no hooks and choose no model',
          ],
          'test/library/activation.test.ts': [
            'lets the tools of an untrusted skill only narrow, ignores its fork and hooks, and reports it',
          ],
        },
      },
      {
        id: 'US-006 AC4',
        asks: 'untrusted: no hooks',
        tests: {
          'test/agent/skills/activation.test.ts': [
            'lets an untrusted skill narrow the tools, and approve nothing, run no hooks and choose no model',
          ],
          'test/library/activation.test.ts': [
            'lets the tools of an untrusted skill only narrow, ignores its fork and hooks, and reports it',
          ],
        },
      },
      {
        id: 'US-006 AC5',
        asks: 'untrusted: no fork',
        tests: {
          'test/agent/subagents/skills.test.ts': ['refuses to fork an untrusted skill'],
          'test/library/activation.test.ts': [
            'lets the tools of an untrusted skill only narrow, ignores its fork and hooks, and reports it',
          ],
        },
      },
      {
        id: 'US-006 AC6',
        asks: 'untrusted: tools are kept from the files',
        tests: {
          'test/agent/skills/activation.test.ts': [
            'runs a script of an untrusted skill in the sandbox, or says how to allow it',
          ],
        },
      },
      {
        id: 'US-006 AC7',
        asks: 'validate reports on a path',
        tests: {
          'test/library/manager.test.ts': ['validates a skill by its directory and by its file'],
        },
      },
      {
        id: 'US-006 AC8',
        asks: 'trusted paths',
        tests: {
          'test/library/manager.test.ts': ['trusts skills below a trusted path, by real paths'],
        },
      },
    ],
  },
  {
    title: 'US-007: a test harness for skills',
    rows: [
      {
        id: 'US-007 AC1',
        asks: 'loads a directory',
        tests: {
          'test/testing/harness.test.ts': [
            'loads a directory, validates it and shows the content after substitution',
          ],
        },
      },
      {
        id: 'US-007 AC2',
        asks: 'loads a definition',
        tests: { 'test/testing/harness.test.ts': ['loads a skill from a definition in code'] },
      },
      {
        id: 'US-007 AC3',
        asks: 'validates',
        tests: {
          'test/testing/harness.test.ts': [
            'loads a directory, validates it and shows the content after substitution',
          ],
        },
      },
      {
        id: 'US-007 AC4',
        asks: 'simulates an invocation',
        tests: {
          'test/testing/harness.test.ts': ['returns a result when an invocation is not allowed'],
        },
      },
      {
        id: 'US-007 AC5',
        asks: 'checks registered tools',
        tests: {
          'test/testing/harness.test.ts': ['offers the tools of a skill only while it is active'],
        },
      },
      {
        id: 'US-007 AC6',
        asks: 'gives structured results',
        tests: {
          'test/testing/harness.test.ts': [
            'loads a directory, validates it and shows the content after substitution',
          ],
        },
      },
      {
        id: 'US-007 AC7',
        asks: 'fixtures of a test runner',
        tests: {
          'test/testing/harness.test.ts': [
            'writes a skill as files for a test runner, and nothing outside its folder',
          ],
        },
      },
      {
        id: 'US-007 AC8',
        asks: 'content after substitution',
        tests: {
          'test/testing/harness.test.ts': [
            'loads a directory, validates it and shows the content after substitution',
          ],
        },
      },
    ],
  },
  {
    title: 'US-008: subagents are configured',
    rows: [
      {
        id: 'US-008 AC1',
        asks: 'Markdown files',
        tests: {
          'test/agent/subagents/discover-agents.test.ts': [
            'finds definitions in the project and in the home of the user, in order of precedence',
            'finds definitions in files and prefers one in code',
          ],
        },
      },
      {
        id: 'US-008 AC2',
        asks: 'their frontmatter fields',
        tests: {
          'test/agent/subagents/agent-file.test.ts': [
            'reads every field of a definition in Markdown, and its body as the system prompt',
          ],
          'test/agent/subagents/tools.test.ts': [
            'offers only tools that change nothing in the permission mode plan',
            'refuses calls that need an approval in the permission mode dont-ask',
          ],
        },
      },
      {
        id: 'US-008 AC3',
        asks: 'their body is the system prompt',
        tests: {
          'test/agent/subagents/agent-file.test.ts': [
            'reads every field of a definition in Markdown, and its body as the system prompt',
          ],
        },
      },
      {
        id: 'US-008 AC4',
        asks: 'SubagentConfig in code',
        tests: {
          'test/agent/subagents/config.test.ts': [
            'accepts every field of a definition and requires only name and description',
          ],
        },
      },
      {
        id: 'US-008 AC5',
        asks: 'register',
        tests: {
          'test/agent/subagents/config.test.ts': [
            'registers, lists, returns and deregisters definitions',
          ],
        },
      },
      {
        id: 'US-008 AC6',
        asks: 'name',
        tests: {
          'test/agent/subagents/config.test.ts': [
            'accepts every field of a definition and requires only name and description',
          ],
        },
      },
      {
        id: 'US-008 AC7',
        asks: 'description',
        tests: {
          'test/agent/subagents/config.test.ts': [
            'accepts every field of a definition and requires only name and description',
          ],
        },
      },
      {
        id: 'US-008 AC8',
        asks: 'model, inherited when not given',
        tests: {
          'test/agent/subagents/delegation.test.ts': ['inherits a model object as the same object'],
        },
      },
      {
        id: 'US-008 AC9',
        asks: 'tools: an allow list; none when not given',
        tests: {
          'test/agent/subagents/tools.test.ts': [
            'offers a subagent only the tools of its allow list and answers a call of another one with an error',
          ],
          'test/requirements/data-models.test.ts': ['offers no tools if the allow list is %s'],
          'test/agent/subagents/config.test.ts': ['treats null like an absent field'],
        },
      },
      {
        id: 'US-008 AC10',
        asks: 'disallowed tools',
        tests: {
          'test/agent/subagents/tools.test.ts': [
            'checks each call against a deny entry with a pattern',
          ],
        },
      },
      {
        id: 'US-008 AC11',
        asks: 'system prompt: text or template',
        tests: {
          'test/agent/requirements.test.ts': ['fills in a system prompt that is a template'],
        },
      },
      {
        id: 'US-008 AC12',
        asks: 'skills to preload',
        tests: {
          'test/agent/subagents/skills.test.ts': [
            'puts the whole content of preloaded skills into the system prompt',
          ],
        },
      },
      {
        id: 'US-008 AC13',
        asks: 'max turns, 50 by default',
        tests: {
          'test/agent/requirements.test.ts': ['ends a subagent without maxTurns after 50 turns'],
        },
      },
      {
        id: 'US-008 AC14',
        asks: 'further configuration of the child',
        tests: {
          'test/agent/requirements.test.ts': [
            'applies the configuration of a subagent over that of its parent',
          ],
        },
      },
      {
        id: 'US-008 AC15',
        asks: 'discovered in the project',
        tests: {
          'test/agent/subagents/discover-agents.test.ts': [
            'finds definitions in the project and in the home of the user, in order of precedence',
          ],
        },
      },
      {
        id: 'US-008 AC16',
        asks: 'discovered in the user’s home',
        tests: {
          'test/agent/subagents/discover-agents.test.ts': [
            'finds definitions in the project and in the home of the user, in order of precedence',
          ],
        },
      },
      {
        id: '5.6 edge 1',
        asks: 'no name',
        tests: {
          'test/agent/subagents/config.test.ts': [
            'throws for a definition without a name in register and the constructor',
          ],
        },
      },
      {
        id: '5.6 edge 2',
        asks: 'an unknown model surfaces at delegation',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'accepts an unknown model in a definition and fails the delegation',
          ],
        },
      },
      {
        id: '5.6 edge 3',
        asks: 'an empty list of tools',
        tests: {
          'test/agent/subagents/tools.test.ts': ['gives a subagent with an empty list no tools'],
        },
      },
      {
        id: '5.6 edge 4',
        asks: 'a skill that does not exist',
        tests: {
          'test/agent/subagents/skills.test.ts': [
            'throws SkillNotFoundError at startup for a missing skill, with the nearest name',
            'throws for a preloaded skill if the parent has no skills',
          ],
        },
      },
    ],
  },
  {
    title: 'US-009: subagents are spawned',
    rows: [
      {
        id: 'US-009 AC1',
        asks: 'the manager keeps definitions',
        tests: {
          'test/agent/subagents/config.test.ts': [
            'registers, lists, returns and deregisters definitions',
          ],
        },
      },
      {
        id: 'US-009 AC2',
        asks: 'it makes agents of them',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'creates a subagent with spawn that works only after run',
          ],
        },
      },
      {
        id: 'US-009 AC3',
        asks: 'it tracks what is active',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'reports the status created, queued, running, and then how the delegation ended',
          ],
        },
      },
      {
        id: 'US-009 AC4',
        asks: 'no nesting',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'refuses every delegation that a tool of a subagent starts',
          ],
        },
      },
      {
        id: 'US-009 AC5',
        asks: 'spawn by name with a task',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'creates a subagent with spawn that works only after run',
          ],
        },
      },
      {
        id: 'US-009 AC6',
        asks: 'spawn from a configuration made at run time',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'runs a definition that was never registered with spawnDynamic',
          ],
        },
      },
      {
        id: 'US-009 AC7',
        asks: 'created: the configuration is checked',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'creates a subagent with spawn that works only after run',
          ],
        },
      },
      {
        id: 'US-009 AC8',
        asks: 'running',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'reports the status created, queued, running, and then how the delegation ended',
          ],
        },
      },
      {
        id: 'US-009 AC9',
        asks: 'completed: there is a result',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'reports the status created, queued, running, and then how the delegation ended',
          ],
        },
      },
      {
        id: 'US-009 AC10',
        asks: 'failed: the error is kept',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'returns a failed result when the model fails, with the tokens of earlier calls',
          ],
        },
      },
      {
        id: 'US-009 AC11',
        asks: 'a fresh context by default',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'appends a text as context to the task and passes nothing else',
          ],
        },
      },
      {
        id: 'US-009 AC12',
        asks: 'the parent’s messages on demand',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'begins the history with copies of the messages of its parent',
          ],
        },
      },
      {
        id: 'US-009 AC13',
        asks: 'a text as context on demand',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'appends a text as context to the task and passes nothing else',
          ],
        },
      },
      {
        id: 'US-009 AC14',
        asks: 'its own model or the parent’s',
        tests: {
          'test/agent/subagents/delegation.test.ts': ['inherits a model object as the same object'],
        },
      },
      {
        id: 'US-009 AC15',
        asks: 'only the allowed tools',
        tests: {
          'test/agent/subagents/tools.test.ts': [
            'offers a subagent only the tools of its allow list and answers a call of another one with an error',
          ],
        },
      },
      {
        id: '5.7 edge 1',
        asks: 'an unknown name',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'lists the subagents and the nearest name for an unknown name',
          ],
        },
      },
      {
        id: '5.7 edge 2',
        asks: 'a subagent that spawns',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'refuses every delegation that a tool of a subagent starts',
            'keeps the tools that delegate from subagents',
          ],
          'test/agent/subagents/skills.test.ts': ['refuses to fork a skill inside a subagent'],
        },
      },
      {
        id: '5.7 edge 3',
        asks: 'injected messages are its first history',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'begins the history with copies of the messages of its parent',
          ],
        },
      },
      {
        id: '5.7 edge 4',
        asks: 'an empty task',
        tests: { 'test/agent/subagents/delegation.test.ts': ['refuses an empty task in %s'] },
      },
      {
        id: '5.7 edge 5',
        asks: 'several at once are independent',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'runs concurrent delegations in separate conversations',
          ],
        },
      },
    ],
  },
  {
    title: 'US-010: work is delegated',
    rows: [
      {
        id: 'US-010 AC1',
        asks: 'delegate waits for the result',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'waits in delegate and returns output, usage, duration, name and success',
          ],
        },
      },
      {
        id: 'US-010 AC2',
        asks: 'delegate_sync',
        differs:
          'A call that blocks until a model has answered cannot exist in JavaScript. `delegate` is awaited instead.',
      },
      {
        id: 'US-010 AC3',
        asks: 'a SubagentResult is returned',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'waits in delegate and returns output, usage, duration, name and success',
          ],
        },
      },
      {
        id: 'US-010 AC4',
        asks: 'delegateAsync returns at once',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'returns a handle from delegateAsync at once, with its result, isComplete and status',
          ],
        },
      },
      {
        id: 'US-010 AC5',
        asks: 'handle.result() waits',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'returns a handle from delegateAsync at once, with its result, isComplete and status',
          ],
        },
      },
      {
        id: 'US-010 AC6',
        asks: 'handle.isComplete does not block',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'returns a handle from delegateAsync at once, with its result, isComplete and status',
          ],
        },
      },
      {
        id: 'US-010 AC7',
        asks: 'handle.cancel() ends it',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'ends a running subagent on cancel and returns a result with its usage',
          ],
        },
      },
      {
        id: 'US-010 AC8',
        asks: 'result: output',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'waits in delegate and returns output, usage, duration, name and success',
          ],
        },
      },
      {
        id: 'US-010 AC9',
        asks: 'result: everything the run gave',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'waits in delegate and returns output, usage, duration, name and success',
          ],
        },
      },
      {
        id: 'US-010 AC10',
        asks: 'result: usage',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'waits in delegate and returns output, usage, duration, name and success',
          ],
        },
      },
      {
        id: 'US-010 AC11',
        asks: 'result: duration',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'waits in delegate and returns output, usage, duration, name and success',
          ],
        },
        differs: '`durationMs`, in milliseconds, as every duration in code.',
      },
      {
        id: 'US-010 AC12',
        asks: 'result: name of the subagent',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'waits in delegate and returns output, usage, duration, name and success',
          ],
        },
      },
      {
        id: 'US-010 AC13',
        asks: 'result: success',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'waits in delegate and returns output, usage, duration, name and success',
          ],
        },
      },
      {
        id: 'US-010 AC14',
        asks: 'result: error',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'returns a failed result when the model fails, with the tokens of earlier calls',
          ],
        },
      },
      {
        id: 'US-010 AC15',
        asks: 'usage of one delegation',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'waits in delegate and returns output, usage, duration, name and success',
            'counts usage once for the model that answered, even if nobody awaits the result',
          ],
        },
      },
      {
        id: 'US-010 AC16',
        asks: 'and in the parent’s sum',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'counts usage once for the model that answered, even if nobody awaits the result',
            'counts completed, failed, cancelled and capped delegations once in the sum of the parent',
          ],
        },
      },
      {
        id: 'US-010 AC17',
        asks: 'broken down by subagent',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'breaks usage down by subagent over completed, failed and capped delegations',
          ],
        },
      },
      {
        id: '5.8 edge 1',
        asks: 'the turns run out',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'enforces the maximum of turns, with a last turn for a summary',
          ],
        },
      },
      {
        id: '5.8 edge 2',
        asks: 'the model fails',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'returns a failed result when the model fails, with the tokens of earlier calls',
          ],
        },
      },
      {
        id: '5.8 edge 3',
        asks: 'cancelled after it was done',
        tests: { 'test/agent/subagents/delegation.test.ts': ['ignores a cancel after the end'] },
      },
      {
        id: '5.8 edge 4',
        asks: 'the parent’s messages are injected',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'begins the history with copies of the messages of its parent',
            'leaves a tool call without a result out of the messages of its parent',
          ],
        },
      },
    ],
  },
  {
    title: 'US-011 and US-012: skills and subagents together',
    rows: [
      {
        id: 'US-011 AC1',
        asks: 'a configuration names the skills to preload',
        tests: {
          'test/agent/subagents/skills.test.ts': [
            'puts the whole content of preloaded skills into the system prompt',
          ],
        },
      },
      {
        id: 'US-011 AC2',
        asks: 'their full content is in the system prompt',
        tests: {
          'test/agent/subagents/skills.test.ts': [
            'puts the whole content of preloaded skills into the system prompt',
          ],
        },
      },
      {
        id: 'US-011 AC3',
        asks: 'their tools are registered',
        tests: {
          'test/agent/subagents/skills.test.ts': [
            'registers the tools of a preloaded skill with the subagent',
            'approves what a trusted preloaded skill allows and adds no tools',
          ],
        },
      },
      {
        id: 'US-011 AC4',
        asks: 'they come from the parent’s manager',
        tests: {
          'test/agent/subagents/skills.test.ts': [
            'puts the whole content of preloaded skills into the system prompt',
          ],
        },
        differs:
          'Only those that its definition names: a subagent reads their files with `skill_resource` and activates no others, since an activation would add tools and approvals to what the definition says.',
      },
      {
        id: 'US-012 AC1',
        asks: 'context: fork runs in a subagent',
        tests: {
          'test/agent/subagents/skills.test.ts': [
            'gives a subagent the content of a forked skill, with its arguments, as the task',
          ],
        },
      },
      {
        id: 'US-012 AC2',
        asks: 'agent names which',
        tests: {
          'test/agent/subagents/skills.test.ts': [
            'runs a forked skill in the subagent that agent names, with the tools that the skill allows',
            'lists the subagents when agent names an unknown one',
          ],
        },
      },
      {
        id: 'US-012 AC3',
        asks: 'the content is its task',
        tests: {
          'test/agent/subagents/skills.test.ts': [
            'gives a subagent the content of a forked skill, with its arguments, as the task',
          ],
        },
      },
      {
        id: 'US-012 AC4',
        asks: 'the result comes back',
        tests: {
          'test/agent/skills/activation.test.ts': [
            'runs a skill that forks in a subagent and leaves nothing active',
          ],
          'test/agent/subagents/skills.test.ts': [
            'gives a subagent the content of a forked skill, with its arguments, as the task',
          ],
        },
      },
    ],
  },
  {
    title: 'US-013: the Agent',
    rows: [
      {
        id: 'US-013 AC1',
        asks: 'skills: objects, names, paths',
        tests: {
          'test/agent/requirements.test.ts': ['accepts skills as objects, names and paths'],
        },
      },
      {
        id: 'US-013 AC2',
        asks: 'skillDirs',
        tests: { 'test/agent/requirements.test.ts': ['searches further directories for skills'] },
      },
      {
        id: 'US-013 AC3',
        asks: 'subagents',
        tests: { 'test/agent/requirements.test.ts': ['lists the subagents of its options'] },
      },
      {
        id: 'US-013 AC4',
        asks: 'registerSkill',
        tests: {
          'test/agent/agent.test.ts': ['offers the model skills that the program registers later'],
          'test/agent/requirements.test.ts': ['registers a skill, returns it by name and lists it'],
        },
      },
      {
        id: 'US-013 AC5',
        asks: 'getSkill',
        tests: {
          'test/agent/requirements.test.ts': ['registers a skill, returns it by name and lists it'],
        },
      },
      {
        id: 'US-013 AC6',
        asks: 'listSkills',
        tests: {
          'test/agent/requirements.test.ts': ['registers a skill, returns it by name and lists it'],
        },
      },
      {
        id: 'US-013 AC7',
        asks: 'invokeSkill',
        tests: {
          'test/agent/agent.test.ts': ['returns the content of a skill to the program'],
          'test/agent/requirements.test.ts': ['invokes a skill with arguments'],
        },
      },
      {
        id: 'US-013 AC8',
        asks: 'delegate',
        tests: {
          'test/agent/agent.test.ts': ['delegates a task and adds the subagent’s usage to its own'],
          'test/agent/requirements.test.ts': ['registers a subagent and delegates a task to it'],
        },
      },
      {
        id: 'US-013 AC9',
        asks: 'delegateAsync',
        tests: {
          'test/agent/requirements.test.ts': [
            'delegates in the background and returns a handle at once',
          ],
        },
      },
      {
        id: 'US-013 AC10',
        asks: 'registerSubagent',
        tests: {
          'test/agent/requirements.test.ts': ['registers a subagent and delegates a task to it'],
        },
      },
      {
        id: 'US-013 AC11',
        asks: 'listSubagents',
        tests: { 'test/agent/requirements.test.ts': ['lists the subagents of its options'] },
      },
      {
        id: 'US-013 AC12',
        asks: 'skillManager',
        tests: { 'test/agent/requirements.test.ts': ['gives access to one SkillManager'] },
      },
      {
        id: 'US-013 AC13',
        asks: 'subagentManager',
        tests: { 'test/agent/requirements.test.ts': ['gives access to one SubagentManager'] },
      },
      {
        id: 'US-013 AC14',
        asks: 'works without either',
        tests: {
          'test/agent/agent.test.ts': [
            'looks for nothing and offers nothing without skills, subagents and tools',
          ],
        },
      },
      {
        id: 'US-013 AC15',
        asks: 'managers are made on first use',
        tests: {
          'test/agent/requirements.test.ts': [
            'creates its managers on first use and reads nothing before',
          ],
        },
        differs:
          'Skills and subagents that the options give are set up by the constructor, so that a definition that cannot be used throws where it stands; directories are searched later.',
      },
    ],
  },
  {
    title: '§6.1: performance',
    rows: [
      {
        id: '6.1 row 1',
        asks: '50 skills are scanned in under 100 ms',
        bench: 'dev/bench/agent.mjs',
      },
      { id: '6.1 row 2', asks: 'metadata in under 1 ms a skill', bench: 'dev/bench/agent.mjs' },
      { id: '6.1 row 3', asks: 'a body in under 10 ms', bench: 'dev/bench/agent.mjs' },
      { id: '6.1 row 4', asks: 'a subagent in under 50 ms', bench: 'dev/bench/subagent.mjs' },
      {
        id: '6.1 row 5',
        asks: 'under 1 KB of memory a skill',
        tests: {
          'test/library/memory.crash.ts': [
            'need less than 1 KB for each skill beyond its own strings',
          ],
        },
      },
    ],
  },
  {
    title: '§6.2: security',
    rows: [
      {
        id: '6.2 validation 1',
        asks: 'nothing is activated unchecked',
        tests: {
          'test/library/requirements.test.ts': [
            'refuses to activate a file with %s and names the file and the error',
          ],
          'test/library/manager.test.ts': ['throws for skills that cannot be used'],
        },
      },
      {
        id: '6.2 validation 2',
        asks: 'fields are checked by type and rule',
        tests: { 'test/skill/spec-rules.test.ts': ['requires a name and a description'] },
      },
      {
        id: '6.2 validation 3',
        asks: 'what is invalid is refused with a clear sentence',
        tests: {
          'test/library/requirements.test.ts': [
            'refuses to activate a file with %s and names the file and the error',
          ],
          'test/skill/bad-input.test.ts': ['reports one clear error for %s'],
        },
      },
      {
        id: '6.2 trust 1',
        asks: 'trusted: everything',
        tests: {
          'test/library/activation.test.ts': [
            'approves the tools of a trusted skill and narrows nothing',
          ],
        },
      },
      {
        id: '6.2 trust 2',
        asks: 'untrusted: no hooks, no fork, no further tools',
        tests: {
          'test/library/activation.test.ts': [
            'lets the tools of an untrusted skill only narrow, ignores its fork and hooks, and reports it',
          ],
        },
      },
      {
        id: '6.2 isolation 1',
        asks: 'a subagent has its own context',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'appends a text as context to the task and passes nothing else',
          ],
        },
      },
      {
        id: '6.2 isolation 2',
        asks: 'and only the tools that were allowed',
        tests: {
          'test/agent/subagents/tools.test.ts': [
            'offers a subagent only the tools of its allow list and answers a call of another one with an error',
          ],
        },
      },
      {
        id: '6.2 isolation 3',
        asks: 'and nothing of its parent’s state',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'hides siblings from one another, and later changes of the parent from both',
            'passes each subagent its own copy of the messages',
          ],
        },
      },
      {
        id: '6.2 isolation 4',
        asks: 'and no subagents',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'refuses every delegation that a tool of a subagent starts',
          ],
        },
      },
    ],
  },
  {
    title: '§6.3 and §6.4: scale and compatibility',
    rows: [
      {
        id: '6.3 row 1',
        asks: '100 and more skills',
        tests: {
          'test/library/memory.crash.ts': [
            'need less than 1 KB for each skill beyond its own strings',
          ],
        },
      },
      {
        id: '6.3 row 2',
        asks: '10 and more delegations at once',
        tests: {
          'test/agent/http/concurrency.test.ts': [
            'returns a result for each of 50 concurrent delegations and counts the tokens that the server counted',
          ],
          'test/agent/subagents/delegation.test.ts': [
            'runs ten and more delegations at once, up to the limit',
          ],
        },
      },
      {
        id: '6.3 row 3',
        asks: 'context grows with active skills only',
        tests: {
          'test/library/requirements.test.ts': [
            'keeps the body of an inactive skill out of the catalogue',
          ],
        },
      },
      {
        id: '6.4 row 1',
        asks: 'the verdict of skills-ref',
        tests: {
          'test/skill/validate-reference.test.ts': [
            'agrees with the reference validator on %s',
            'agrees with the reference validator on a file with %s',
          ],
        },
      },
      {
        id: '6.4 row 2',
        asks: 'an agent without skills and subagents is unchanged',
        tests: {
          'test/agent/agent.test.ts': [
            'looks for nothing and offers nothing without skills, subagents and tools',
          ],
        },
      },
      {
        id: '6.4 row 3',
        asks: 'pydantic-ai',
        differs:
          'Skillrail is TypeScript; its model layer is the AI SDK, pinned exactly behind one adapter file.',
      },
      { id: '6.4 row 4', asks: 'Python 3.12', differs: 'Node 22.18 or newer instead.' },
    ],
  },
  {
    title: '§7.3: data models',
    rows: [
      {
        id: '7.3 row 1',
        asks: 'SkillInfo: every field',
        tests: {
          'test/requirements/data-models.test.ts': [
            'has every field of the frontmatter, its place and its trust',
          ],
        },
      },
      {
        id: '7.3 row 2',
        asks: 'SkillInfo: the defaults of its fields',
        tests: {
          'test/requirements/data-models.test.ts': [
            'has defaults for every field that the frontmatter leaves out',
          ],
        },
        differs:
          '`metadata` is an empty object instead of None. Trust depends on the place, see US-006 AC2.',
      },
      {
        id: '7.3 row 3',
        asks: 'Skill: info, body on demand, activity and tools',
        tests: {
          'test/requirements/data-models.test.ts': [
            'has a body that is read on demand, an activation and tools for each skill',
          ],
        },
        differs:
          'The manager knows which skills are active (`activeSkills`), because a skill is a value that several managers can share.',
      },
      {
        id: '7.3 row 4',
        asks: 'SkillConfig: skills_dirs',
        tests: {
          'test/requirements/data-models.test.ts': [
            'search .mamba/skills of the project and of the home by default',
            'replace the directories of the project by skillsDirs',
          ],
        },
      },
      {
        id: '7.3 row 5',
        asks: 'SkillConfig: user_skills_dir',
        tests: {
          'test/requirements/data-models.test.ts': [
            'search .mamba/skills of the project and of the home by default',
            'replace the directory of the user by userSkillsDir',
          ],
        },
      },
      {
        id: '7.3 row 6',
        asks: 'SkillConfig: custom_paths',
        tests: {
          'test/requirements/data-models.test.ts': [
            'search no custom paths by default, and those that customPaths names',
          ],
        },
      },
      {
        id: '7.3 row 7',
        asks: 'SkillConfig: auto_discover',
        tests: {
          'test/requirements/data-models.test.ts': [
            'discover skills by default, and not with autoDiscover: false',
          ],
        },
      },
      {
        id: '7.3 row 8',
        asks: 'SkillConfig: namespace_tools',
        tests: {
          'test/requirements/data-models.test.ts': [
            'prefix tools with the name of their skill by default, and not with namespaceTools: false',
          ],
        },
      },
      {
        id: '7.3 row 9',
        asks: 'SkillConfig: trusted_paths',
        tests: {
          'test/requirements/data-models.test.ts': [
            'trust no custom path by default, and those that trustedPaths names',
          ],
        },
      },
      {
        id: '7.3 row 10',
        asks: 'SubagentConfig: every field',
        tests: { 'test/requirements/data-models.test.ts': ['applies every field to the subagent'] },
      },
      {
        id: '7.3 row 11',
        asks: 'SubagentConfig: the defaults of its fields',
        tests: {
          'test/requirements/data-models.test.ts': [
            'inherits the model and has no tools, skills and system prompt by default',
          ],
          'test/agent/requirements.test.ts': ['ends a subagent without maxTurns after 50 turns'],
        },
      },
      {
        id: '7.3 row 12',
        asks: 'SubagentResult: every field',
        tests: {
          'test/requirements/data-models.test.ts': [
            'has output, run, usage, duration, name and success',
            'has the error of a delegation that failed',
          ],
        },
        differs:
          '`durationMs`, in milliseconds, as every duration in code; `result` in place of agent_result.',
      },
      {
        id: '7.3 row 13',
        asks: 'DelegationHandle: name, task, is_complete, result and cancel',
        tests: {
          'test/requirements/data-models.test.ts': [
            'has name, task, state, result and cancel in a DelegationHandle',
          ],
        },
      },
      {
        id: '7.3 row 14',
        asks: 'SkillScope: project, user, custom',
        tests: {
          'test/requirements/data-models.test.ts': [
            'has the scopes project, user and custom, and code for skills without a file',
          ],
        },
      },
      {
        id: '7.3 row 15',
        asks: 'TrustLevel: trusted, untrusted',
        tests: {
          'test/requirements/data-models.test.ts': ['has the trust levels trusted and untrusted'],
        },
      },
    ],
  },
  {
    title: '§7.4: interfaces',
    rows: [
      {
        id: '7.4 row 1',
        asks: 'SkillManager: the constructor',
        tests: { 'test/requirements/skill-manager.test.ts': ['constructs one without options'] },
      },
      {
        id: '7.4 row 2',
        asks: 'SkillManager: discover',
        tests: {
          'test/requirements/skill-manager.test.ts': [
            'discover returns the metadata of every skill and finds new ones',
          ],
        },
      },
      {
        id: '7.4 row 3',
        asks: 'SkillManager: register',
        tests: {
          'test/requirements/skill-manager.test.ts': [
            'register accepts a skill, the metadata of one and a path',
          ],
        },
      },
      {
        id: '7.4 row 4',
        asks: 'SkillManager: deregister',
        tests: {
          'test/requirements/skill-manager.test.ts': [
            'deregister removes a skill, also in later searches',
          ],
        },
      },
      {
        id: '7.4 row 5',
        asks: 'SkillManager: get',
        tests: {
          'test/requirements/skill-manager.test.ts': [
            'get returns a skill with its body, and undefined for another name',
          ],
        },
      },
      {
        id: '7.4 row 6',
        asks: 'SkillManager: list',
        tests: {
          'test/requirements/skill-manager.test.ts': [
            'list returns the metadata of every registered skill',
          ],
        },
      },
      {
        id: '7.4 row 7',
        asks: 'SkillManager: activate',
        tests: {
          'test/requirements/skill-manager.test.ts': [
            'activate returns the content with its arguments and makes the skill active',
          ],
        },
      },
      {
        id: '7.4 row 8',
        asks: 'SkillManager: deactivate',
        tests: {
          'test/requirements/skill-manager.test.ts': [
            'deactivate restores the tools and approvals of before',
          ],
        },
      },
      {
        id: '7.4 row 9',
        asks: 'SkillManager: validate',
        tests: {
          'test/requirements/skill-manager.test.ts': ['validate reports on the skill at a path'],
        },
      },
      {
        id: '7.4 row 10',
        asks: 'SkillManager: get_tools',
        tests: {
          'test/requirements/skill-manager.test.ts': [
            'getTools returns the tools of one skill, active or not',
          ],
        },
      },
      {
        id: '7.4 row 11',
        asks: 'SkillManager: get_all_tools',
        tests: {
          'test/requirements/skill-manager.test.ts': [
            'getAllTools returns the tools of active skills, with prefixes',
          ],
        },
      },
      {
        id: '7.4 row 12',
        asks: 'SubagentManager: the constructor',
        tests: {
          'test/requirements/subagent-manager.test.ts': [
            'constructs one of an agent, with definitions or without',
            'refuses a manager of skills as the third argument of the constructor',
          ],
        },
        differs:
          'Skills come from the manager of the agent: another one could give a subagent what its parent may not use.',
      },
      {
        id: '7.4 row 13',
        asks: 'SubagentManager: register',
        tests: {
          'test/requirements/subagent-manager.test.ts': [
            'register adds a definition and refuses another one of its name',
          ],
        },
      },
      {
        id: '7.4 row 14',
        asks: 'SubagentManager: deregister',
        tests: {
          'test/requirements/subagent-manager.test.ts': ['deregister removes a definition'],
        },
      },
      {
        id: '7.4 row 15',
        asks: 'SubagentManager: list',
        tests: {
          'test/requirements/subagent-manager.test.ts': [
            'list returns every definition in the order of registration',
          ],
        },
      },
      {
        id: '7.4 row 16',
        asks: 'SubagentManager: get',
        tests: {
          'test/requirements/subagent-manager.test.ts': [
            'get returns the definition of a name, or undefined',
          ],
        },
      },
      {
        id: '7.4 row 17',
        asks: 'SubagentManager: delegate',
        tests: {
          'test/requirements/subagent-manager.test.ts': [
            'delegate waits for the result and passes context and messages',
          ],
        },
      },
      {
        id: '7.4 row 18',
        asks: 'SubagentManager: delegate_sync',
        differs:
          'A call that blocks until a model has answered cannot exist in JavaScript. `delegate` is awaited instead.',
      },
      {
        id: '7.4 row 19',
        asks: 'SubagentManager: delegate_async',
        tests: {
          'test/requirements/subagent-manager.test.ts': [
            'delegateAsync returns a handle before the result and passes context and messages',
          ],
        },
      },
      {
        id: '7.4 row 20',
        asks: 'SubagentManager: spawn_dynamic',
        tests: {
          'test/requirements/subagent-manager.test.ts': [
            'spawnDynamic runs a definition that is not registered',
          ],
        },
      },
      {
        id: '7.4 row 21',
        asks: 'SubagentManager: get_active_delegations',
        tests: {
          'test/requirements/subagent-manager.test.ts': [
            'getActiveDelegations returns the handles of running delegations',
          ],
        },
      },
      {
        id: '7.4 row 22',
        asks: 'SubagentManager: get_usage_breakdown',
        tests: {
          'test/requirements/subagent-manager.test.ts': [
            'getUsageBreakdown returns the usage of each subagent',
          ],
        },
      },
    ],
  },
  {
    title: '§7.5: integration',
    rows: [
      {
        id: '7.5 row 1',
        asks: 'Agent: methods, options and properties',
        tests: {
          'test/requirements/integration.test.ts': [
            'are reached through its options, methods and properties',
          ],
        },
      },
      {
        id: '7.5 row 2',
        asks: 'ToolRegistry: tools of skills are tools of the agent',
        tests: {
          'test/requirements/integration.test.ts': [
            'offer the tools of an active skill beside those of the agent',
          ],
        },
      },
      {
        id: '7.5 row 3',
        asks: 'MCPClientManager: skills refer to MCP servers',
        tests: {
          'test/requirements/integration.test.ts': [
            'let a skill approve the tools of an MCP server',
          ],
        },
      },
      {
        id: '7.5 row 4',
        asks: 'UsageTracker: usage of subagents in that of the parent',
        tests: {
          'test/requirements/integration.test.ts': [
            'add the usage of subagents to that of the agent',
          ],
        },
      },
      {
        id: '7.5 row 5',
        asks: 'ContextManager: context of the parent on request',
        tests: {
          'test/requirements/integration.test.ts': [
            'pass messages of the conversation to a subagent only on request',
          ],
        },
      },
      {
        id: '7.5 row 6',
        asks: 'AgentSettings: settings of skills and subagents',
        tests: {
          'test/requirements/integration.test.ts': [
            'read the settings of skills from the configuration of the user and the project',
          ],
        },
        differs:
          'A program passes the limits of agents and subagents as options; the settings `agent.*` are those of the commands.',
      },
      {
        id: '7.5 row 7',
        asks: 'PromptManager: templates',
        tests: {
          'test/requirements/integration.test.ts': [
            'fill in templates as instructions and as the system prompt of a subagent',
          ],
        },
      },
    ],
  },
  {
    title: '§10: testing',
    rows: [
      {
        id: '10.1 row 1',
        asks: 'unit tests, 80 % of each module',
        differs: '`npm run coverage` fails below 90 % of the lines of all of `src/`.',
      },
      {
        id: '10.1 row 2',
        asks: 'integration tests of the critical paths',
        tests: {
          'test/agent/requirements.test.ts': [
            'uses a skill, its tool, a fork and a delegation in one conversation',
          ],
        },
      },
      {
        id: '10.2 loading 1',
        asks: 'a SKILL.md is parsed',
        tests: { 'test/library/requirements.test.ts': ['finds a valid file with its metadata'] },
      },
      {
        id: '10.2 loading 2',
        asks: 'discovery finds its metadata',
        tests: { 'test/library/requirements.test.ts': ['finds a valid file with its metadata'] },
      },
      {
        id: '10.2 loading 3',
        asks: 'activation loads, substitutes, registers',
        tests: {
          'test/library/requirements.test.ts': [
            'loads the body, substitutes the arguments and approves the tools on activation',
          ],
        },
      },
      {
        id: '10.2 loading 4',
        asks: 'deactivation restores',
        tests: {
          'test/library/manager.test.ts': [
            "returns a skill's tools while the skill is active, and the earlier tools afterwards",
          ],
        },
      },
      {
        id: '10.2 delegation 1',
        asks: 'a configuration is registered',
        tests: {
          'test/agent/subagents/config.test.ts': [
            'registers, lists, returns and deregisters definitions',
          ],
        },
      },
      {
        id: '10.2 delegation 2',
        asks: 'a delegation gives output and usage',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'waits in delegate and returns output, usage, duration, name and success',
          ],
        },
      },
      {
        id: '10.2 delegation 3',
        asks: 'usage is in the parent’s sum',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'counts usage once for the model that answered, even if nobody awaits the result',
          ],
        },
      },
      {
        id: '10.2 delegation 4',
        asks: 'a handle at once, the result later',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'returns a handle from delegateAsync at once, with its result, isComplete and status',
          ],
        },
      },
      {
        id: '10.2 together 1',
        asks: 'a preloaded skill is in the system prompt',
        tests: {
          'test/agent/subagents/skills.test.ts': [
            'puts the whole content of preloaded skills into the system prompt',
          ],
        },
      },
      {
        id: '10.2 together 2',
        asks: 'its subagent has its tools',
        tests: {
          'test/agent/subagents/skills.test.ts': [
            'registers the tools of a preloaded skill with the subagent',
          ],
        },
      },
      {
        id: '10.2 together 3',
        asks: 'a forked skill runs apart',
        tests: {
          'test/agent/skills/activation.test.ts': [
            'runs a skill that forks in a subagent and leaves nothing active',
          ],
          'test/agent/subagents/skills.test.ts': [
            'gives a subagent the content of a forked skill, with its arguments, as the task',
          ],
        },
      },
      {
        id: '10.3 row 1',
        asks: 'a sample skill directory',
        tests: { 'test/library/requirements.test.ts': ['finds a valid file with its metadata'] },
      },
      {
        id: '10.3 row 2',
        asks: 'a sample subagent',
        tests: { 'test/requirements/data-models.test.ts': ['runs the sample of the requirements'] },
      },
    ],
  },
  {
    title: 'Defects of the first implementation',
    rows: [
      {
        id: 'defect 1',
        asks: 'turns were never limited',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'enforces the maximum of turns, with a last turn for a summary',
          ],
        },
      },
      {
        id: 'defect 2',
        asks: 'usage of failed and cancelled runs was lost',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'ends a running subagent on cancel and returns a result with its usage',
          ],
        },
      },
      {
        id: 'defect 3',
        asks: 'usage was booked on the parent’s model, as one request',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'counts usage once for the model that answered, even if nobody awaits the result',
          ],
        },
      },
      {
        id: 'defect 4',
        asks: 'a model object was not inherited',
        tests: {
          'test/agent/subagents/delegation.test.ts': ['inherits a model object as the same object'],
        },
      },
      {
        id: 'defect 5',
        asks: 'three parsers disagreed, and context: fork was lost',
        tests: {
          'test/library/requirements.test.ts': [
            'reads a file the same way in discovery, registration and validation',
          ],
        },
      },
      {
        id: 'defect 6',
        asks: 'allowed-tools as a string was not read',
        tests: { 'test/skill/allowed-tools.test.ts': ['reads allowed-tools written as %j'] },
      },
      {
        id: 'defect 7',
        asks: 'trust was not enforced',
        tests: {
          'test/agent/skills/activation.test.ts': [
            'lets an untrusted skill narrow the tools, and approve nothing, run no hooks and choose no model',
          ],
          'test/library/manager.test.ts': [
            'registers a path as untrusted unless the path is trusted',
          ],
        },
      },
      {
        id: 'defect 8',
        asks: 'a skill’s tools did nothing',
        tests: {
          'test/agent/skills/activation.test.ts': [
            'offers the tools of a skill exactly while it is active',
          ],
        },
      },
      {
        id: 'defect 9',
        asks: 'listing read every body',
        tests: {
          'test/library/manager.test.ts': ['reads the body of a skill in get and not before'],
        },
      },
      {
        id: 'defect 10',
        asks: 'one broken file hid all others',
        tests: {
          'test/agent/subagents/discover-agents.test.ts': [
            'reports a broken definition with its line and finds the others',
          ],
          'test/library/discover.test.ts': ['finds the other skills beside a skill %s'],
        },
      },
      {
        id: 'defect 11',
        asks: 'arguments were substituted twice',
        tests: {
          'test/library/requirements.test.ts': ['never substitutes placeholders inside arguments'],
        },
      },
      {
        id: 'defect 12',
        asks: 'a forked skill stayed active in the parent',
        tests: {
          'test/agent/skills/activation.test.ts': [
            'runs a skill that forks in a subagent and leaves nothing active',
          ],
        },
      },
      {
        id: 'defect 13',
        asks: 'the model had no tool to delegate with',
        tests: {
          'test/agent/subagents/delegation-part.test.ts': [
            'offers the model four tools that delegate, with the names of the subagents',
          ],
        },
      },
      {
        id: 'defect 14',
        asks: 'references led out of the skill',
        tests: { 'test/library/read-resource.test.ts': ['refuses to read %s'] },
      },
      {
        id: 'defect 15',
        asks: 'tool names that providers reject',
        tests: {
          'test/agent/tool-names.test.ts': ['turns any name into one that every provider accepts'],
        },
      },
    ],
  },
  {
    title: 'What users of other products complain about',
    rows: [
      {
        id: 'complaint 1',
        asks: 'subagents do not get skills',
        tests: {
          'test/agent/subagents/skills.test.ts': [
            'lets a subagent read the files of its skills and of no others',
            'puts the whole content of preloaded skills into the system prompt',
          ],
        },
        differs:
          'They get what their definition names, whole and from the start, with tools and files, and activate nothing further: an activation would add tools and approvals to what the definition allows.',
      },
      {
        id: 'complaint 2',
        asks: 'tokens of children are not counted',
        tests: {
          'test/agent/http/concurrency.test.ts': [
            'returns a result for each of 50 concurrent delegations and counts the tokens that the server counted',
          ],
        },
      },
      {
        id: 'complaint 3',
        asks: 'a fork gets no arguments, no tools, or describes the skill',
        tests: {
          'test/agent/subagents/skills.test.ts': [
            'gives a subagent the content of a forked skill, with its arguments, as the task',
          ],
        },
      },
      {
        id: 'complaint 4',
        asks: 'cancelling leaves children running; resuming does not work',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'ends a delegation with the run that waits for it',
          ],
        },
      },
      {
        id: 'complaint 5',
        asks: 'permissions are evaded through children',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'refuses every delegation that a tool of a subagent starts',
          ],
        },
      },
      {
        id: 'complaint 6',
        asks: 'tool names with dots, or too long',
        tests: {
          'test/agent/tool-names.test.ts': ['turns any name into one that every provider accepts'],
        },
      },
      {
        id: 'complaint 7',
        asks: 'the list of skills is cut silently',
        tests: {
          'test/skill/catalog.test.ts': [
            'leaves out skills from the end if the budget is used up, and reports them',
          ],
        },
      },
      {
        id: 'complaint 8',
        asks: 'state leaks between siblings',
        tests: {
          'test/agent/subagents/delegation.test.ts': [
            'hides siblings from one another, and later changes of the parent from both',
          ],
        },
      },
      {
        id: 'complaint 9',
        asks: 'the AI SDK has no skills',
        differs: 'Not a behaviour to test: `skillrail/agent` is the answer.',
      },
    ],
  },
]
