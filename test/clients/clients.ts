import type { ModelToolCall } from '../model-server/turn.ts'
import type { TestedClient } from './cache.ts'

/** How one client is brought to ask a model on the loopback, in a home that is empty otherwise. */
export interface ClientRecipe {
  /**
   * Files below the home, by path: what the client needs to start at all, and what makes `project` a
   * folder that it trusts, as the client writes it itself.
   */
  files(url: string, project: string): Readonly<Record<string, string>>
  environment(url: string): Readonly<Record<string, string>>
  /** The arguments for one prompt. */
  prompt(text: string, editing?: boolean): readonly string[]
  /** The arguments for a call of the skill `saw`, as a user of this client types it. */
  call(words: string): readonly string[]
  /** The arguments for a call of any skill, in a session that may edit files and run commands. */
  invoke(skill: string, words: string): readonly string[]
  /** The arguments for a further prompt in the last session. */
  resume(text: string): readonly string[]
  /** The prompt that calls the skill `rail` of the client's package, as a user types it. */
  rail(words: string): string
  /** The call of the client's own tool that writes a new file. */
  edit(project: string, path: string, text: string): ModelToolCall
  shell(project: string, command: string): ModelToolCall
  /** Where the client looks for skills, below the home. */
  skills: string
}

/** Run headless; every recipe was tried with the version in the cache table. */
export const recipes = {
  claude: {
    skills: '.claude/skills',
    files: (_, project) => ({
      '.claude/settings.json': settings({ theme: 'dark' }),
      '.claude.json': settings({ projects: { [project]: { hasTrustDialogAccepted: true } } }),
    }),
    environment: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'sk-ant-dummy',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    }),
    prompt: (text, editing) => [
      '-p',
      text,
      ...(editing ? ['--permission-mode', 'acceptEdits', '--allowedTools', 'Bash'] : []),
    ],
    call: (words) => ['-p', `/saw ${words}`],
    invoke: (skill, words) => [
      '-p',
      `/${skill} ${words}`,
      '--permission-mode',
      'acceptEdits',
      '--allowedTools',
      'Bash',
    ],
    resume: (text) => [
      '-p',
      text,
      '--continue',
      '--permission-mode',
      'acceptEdits',
      '--allowedTools',
      'Bash',
    ],
    rail: (words) => `/skillrail:rail ${words}`,
    edit: (project, path, content) => ({
      name: 'Write',
      input: { file_path: `${project}/${path}`, content },
    }),
    shell: (_, command) => ({ name: 'Bash', input: { command, description: 'Run it' } }),
  },
  codex: {
    skills: '.agents/skills',
    files: (url, project) => ({
      '.codex/config.toml': `model = "mock"
model_provider = "mock"

[model_providers.mock]
name = "mock"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"

[projects."${project}"]
trust_level = "trusted"
`,
    }),
    environment: () => ({ MOCK_KEY: 'dummy' }),
    // The one thing a user does in /hooks: here for these runs alone.
    prompt: (text, editing) => [
      'exec',
      '--skip-git-repo-check',
      '--dangerously-bypass-hook-trust',
      ...(editing ? ['--dangerously-bypass-approvals-and-sandbox'] : []),
      text,
    ],
    invoke: (skill, words) => [
      'exec',
      '--skip-git-repo-check',
      '--dangerously-bypass-hook-trust',
      '--dangerously-bypass-approvals-and-sandbox',
      `$${skill} ${words}`,
    ],
    resume: (text) => [
      'exec',
      '--skip-git-repo-check',
      '--dangerously-bypass-hook-trust',
      '--dangerously-bypass-approvals-and-sandbox',
      'resume',
      '--last',
      text,
    ],
    rail: (words) => `$rail ${words}`,
    edit: (_, path, text) => ({
      name: 'exec_command',
      input: {
        cmd: `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${path}\n+${text}*** End Patch\nEOF\n`,
      },
    }),
    shell: (_, cmd) => ({ name: 'exec_command', input: { cmd } }),
    call: (words) => [
      'exec',
      '--skip-git-repo-check',
      '--dangerously-bypass-hook-trust',
      `$saw ${words}`,
    ],
  },
  copilot: {
    skills: '.copilot/skills',
    files: (_, project) => ({
      '.copilot/config.json': settings({ trustedFolders: [project] }),
    }),
    environment: (url) => ({
      COPILOT_OFFLINE: 'true',
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: 'dummy',
      COPILOT_MODEL: 'mock',
    }),
    prompt: (text) => ['-p', text, '--allow-all-tools'],
    call: (words) => ['-p', `/saw ${words}`, '--allow-all-tools'],
    invoke: (skill, words) => ['-p', `/${skill} ${words}`, '--allow-all-tools'],
    resume: (text) => ['--continue', '-p', text, '--allow-all-tools'],
    rail: (words) => `/rail ${words}`,
    edit: (project, path, text) => ({
      name: 'create',
      input: { path: `${project}/${path}`, file_text: text },
    }),
    shell: (_, command) => ({ name: 'bash', input: { command, description: 'Run it' } }),
  },
  gemini: {
    skills: '.gemini/skills',
    files: (_, project) => ({
      '.gemini/settings.json': settings({
        // After 30 turns it asks the model whether it goes in circles, and waits minutes for JSON.
        model: { disableLoopDetection: true },
        security: { auth: { selectedType: 'gemini-api-key' } },
      }),
      '.gemini/trustedFolders.json': settings({ [project]: 'TRUST_FOLDER' }),
    }),
    environment: (url) => ({ GEMINI_API_KEY: 'dummy', GOOGLE_GEMINI_BASE_URL: url }),
    prompt: (text, editing) => [
      ...(editing ? ['--yolo'] : []),
      '-m',
      'gemini-2.5-flash',
      '-p',
      text,
    ],
    call: (words) => ['-m', 'gemini-2.5-flash', '-p', `/saw ${words}`],
    invoke: (skill, words) => ['--yolo', '-m', 'gemini-2.5-flash', '-p', `/${skill} ${words}`],
    resume: (text) => ['--yolo', '-m', 'gemini-2.5-flash', '--resume', 'latest', '-p', text],
    rail: (words) => `/rail ${words}`,
    edit: (project, path, content) => ({
      name: 'write_file',
      input: { file_path: `${project}/${path}`, content },
    }),
    shell: (_, command) => ({ name: 'run_shell_command', input: { command } }),
  },
  opencode: {
    skills: '.config/opencode/skills',
    files: (url) => ({
      '.config/opencode/opencode.json': settings({
        model: 'mock/mock',
        small_model: 'mock/mock',
        provider: {
          mock: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${url}/v1`, apiKey: 'dummy' },
            models: { mock: { name: 'mock' } },
          },
        },
      }),
    }),
    environment: () => ({
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    }),
    // One argument with blanks would arrive with quotes around it.
    prompt: (text) => ['run', ...text.split(' ')],
    call: (words) => ['run', '--command', 'saw', ...words.split(' ')],
    invoke: (skill, words) => ['run', '--command', skill, ...words.split(' ')],
    resume: (text) => ['run', '--continue', ...text.split(' ')],
    rail: (words) => `--command rail ${words}`,
    edit: (project, path, content) => ({
      name: 'write',
      input: { filePath: `${project}/${path}`, content },
    }),
    shell: (_, command) => ({ name: 'bash', input: { command, description: 'Run it' } }),
  },
  pi: {
    skills: '.pi/agent/skills',
    files: (url) => ({
      '.pi/agent/models.json': settings({
        providers: {
          mock: {
            baseUrl: `${url}/v1`,
            apiKey: 'dummy',
            api: 'openai-completions',
            models: [{ id: 'mock', name: 'mock', contextWindow: 200_000, maxTokens: 4096 }],
          },
        },
      }),
    }),
    environment: () => ({ PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1' }),
    prompt: (text) => ['--provider', 'mock', '--model', 'mock', '-p', text],
    call: (words) => ['--provider', 'mock', '--model', 'mock', '-p', `/skill:saw ${words}`],
    invoke: (skill, words) => [
      '--provider',
      'mock',
      '--model',
      'mock',
      '-p',
      `/skill:${skill} ${words}`,
    ],
    resume: (text) => ['--provider', 'mock', '--model', 'mock', '--continue', '-p', text],
    rail: (words) => `/skill:rail ${words}`,
    edit: (_, path, content) => ({ name: 'write', input: { path, content } }),
    shell: (_, command) => ({ name: 'bash', input: { command } }),
  },
  qwen: {
    skills: '.qwen/skills',
    files: () => ({
      '.qwen/settings.json': settings({ security: { auth: { selectedType: 'openai' } } }),
    }),
    environment: (url) => ({
      OPENAI_API_KEY: 'dummy',
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_MODEL: 'mock',
    }),
    prompt: (text, editing) => ['-p', text, ...(editing ? ['--yolo'] : [])],
    call: (words) => ['-p', `/saw ${words}`],
    invoke: (skill, words) => ['-p', `/${skill} ${words}`, '--yolo'],
    resume: (text) => ['--continue', '-p', text, '--yolo'],
    rail: (words) => `/rail ${words}`,
    edit: (project, path, content) => ({
      name: 'write_file',
      input: { file_path: `${project}/${path}`, content },
    }),
    shell: (_, command) => ({
      name: 'run_shell_command',
      input: { command, description: 'Run it', is_background: false },
    }),
  },
} as const satisfies Record<TestedClient, ClientRecipe>

function settings(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}
