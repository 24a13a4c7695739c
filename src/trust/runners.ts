/**
 * Programs that start other programs, and the project files that each of them reads first. A server's
 * command such as `npm run mcp` or `make mcp` does not name these files.
 */
export interface Runner {
  programs: readonly string[]
  /** Names of files in the start folder and the folders above; `*.EXT` matches each such file. */
  reads: readonly string[]
  /** Folders that are searched for a program without a path. */
  finds?: readonly string[] | undefined
  /** Further inputs that decide what runs and are not compared, as in "not compared: …". */
  leaves?: string | undefined
}

const nodePackages = ['.npmrc', 'package.json']
const nodePrograms = ['node_modules/.bin', 'node_modules']
const pythonPrograms = ['.venv/bin', 'venv/bin', '.venv/Scripts', 'venv/Scripts']
const composeFiles = ['compose', 'docker-compose'].flatMap((name) =>
  ['', '.override'].flatMap((more) => ['yaml', 'yml'].map((end) => `${name}${more}.${end}`)),
)

export const runners: readonly Runner[] = [
  {
    programs: ['npm', 'npx', 'pnpm', 'pnpx', 'yarn', 'yarnpkg', 'corepack', 'nx', 'turbo', 'lerna'],
    reads: [
      ...nodePackages,
      '.yarnrc',
      '.yarnrc.yml',
      'pnpm-workspace.yaml',
      '.pnpmfile.cjs',
      '.pnpmfile.mjs',
      'nx.json',
      'project.json',
      'turbo.json',
      'lerna.json',
    ],
    finds: nodePrograms,
    leaves: 'packages in node_modules and those that it downloads',
  },
  {
    programs: ['node', 'tsx', 'ts-node', 'nodemon', 'vite-node', 'pm2', 'electron'],
    reads: [...nodePackages, 'tsconfig.json', 'nodemon.json'],
    finds: nodePrograms,
    leaves: 'packages in node_modules',
  },
  {
    programs: ['bun', 'bunx'],
    reads: [...nodePackages, 'bunfig.toml', 'tsconfig.json'],
    finds: nodePrograms,
    leaves: 'packages in node_modules and those that it downloads',
  },
  {
    programs: ['deno'],
    reads: ['deno.json', 'deno.jsonc', 'package.json', '.npmrc'],
    finds: nodePrograms,
    leaves: 'modules that it downloads',
  },
  {
    programs: ['python', 'pypy', 'py', 'uvicorn', 'gunicorn', 'fastmcp', 'mcp'],
    reads: [
      'pyproject.toml',
      'sitecustomize.py',
      'usercustomize.py',
      '.python-version',
      'pyvenv.cfg',
    ],
    finds: pythonPrograms,
    leaves: 'packages that are installed for Python',
  },
  {
    programs: [
      'uv',
      'uvx',
      'pip',
      'pipx',
      'poetry',
      'pdm',
      'hatch',
      'rye',
      'pipenv',
      'tox',
      'nox',
      'pixi',
    ],
    reads: [
      'pyproject.toml',
      'uv.toml',
      'uv.lock',
      'setup.py',
      'setup.cfg',
      'Pipfile',
      'poetry.toml',
      'pdm.toml',
      'hatch.toml',
      'tox.ini',
      'noxfile.py',
      'pixi.toml',
      'requirements.txt',
      '.python-version',
    ],
    finds: pythonPrograms,
    leaves: 'packages that it installs',
  },
  {
    programs: ['make', 'gmake', 'bmake'],
    reads: ['GNUmakefile', 'BSDmakefile', 'makefile', 'Makefile'],
  },
  { programs: ['just'], reads: ['justfile', 'Justfile', '.justfile', '.env'] },
  {
    programs: ['task', 'go-task'],
    reads: ['Taskfile', 'taskfile'].flatMap((name) =>
      ['.yml', '.yaml', '.dist.yml', '.dist.yaml'].map((end) => `${name}${end}`),
    ),
  },
  {
    programs: ['mise', 'rtx', 'asdf'],
    reads: ['mise.toml', '.mise.toml', 'mise.local.toml', '.tool-versions'],
  },
  { programs: ['direnv'], reads: ['.envrc', '.env'] },
  { programs: ['foreman', 'honcho', 'overmind', 'hivemind'], reads: ['Procfile', '.env'] },
  {
    programs: ['docker', 'docker-compose', 'podman', 'podman-compose', 'nerdctl'],
    reads: [...composeFiles, 'Dockerfile', 'Containerfile', '.dockerignore', '.env'],
    leaves: 'images',
  },
  {
    programs: ['devcontainer'],
    reads: ['.devcontainer/devcontainer.json', '.devcontainer.json'],
    leaves: 'images',
  },
  {
    programs: ['cargo'],
    reads: [
      'Cargo.toml',
      'build.rs',
      '.cargo/config.toml',
      '.cargo/config',
      'src/main.rs',
      'rust-toolchain.toml',
    ],
    leaves: 'crates',
  },
  {
    programs: ['go', 'air'],
    reads: ['go.mod', 'go.work', '*.go', '.air.toml'],
    leaves: 'modules that it downloads',
  },
  {
    programs: ['dotnet'],
    reads: [
      '*.csproj',
      '*.fsproj',
      '*.vbproj',
      '*.sln',
      '*.slnx',
      'Program.cs',
      'global.json',
      'nuget.config',
      'Directory.Build.props',
      'Directory.Build.targets',
    ],
    leaves: 'packages that it restores',
  },
  {
    programs: ['mvn', 'mvnw', 'gradle', 'gradlew', 'jbang', 'sbt', 'ant'],
    reads: [
      'pom.xml',
      '.mvn/maven.config',
      '.mvn/jvm.config',
      'build.gradle',
      'build.gradle.kts',
      'settings.gradle',
      'settings.gradle.kts',
      'gradle.properties',
      'build.sbt',
      'build.xml',
      'gradle/wrapper/gradle-wrapper.properties',
      'gradle/wrapper/gradle-wrapper.jar',
      '.mvn/wrapper/maven-wrapper.properties',
    ],
    leaves: 'packages that it downloads',
  },
  {
    programs: ['ruby', 'bundle', 'bundler', 'rake', 'rackup', 'rails'],
    reads: [
      'Gemfile',
      'Rakefile',
      'rakefile',
      'config.ru',
      '.bundle/config',
      '.ruby-version',
      '.rubyopt',
    ],
    leaves: 'gems',
  },
  {
    programs: ['php', 'composer'],
    reads: ['composer.json', 'php.ini', '.user.ini'],
    leaves: 'packages in vendor',
  },
  {
    programs: ['mix', 'elixir', 'iex'],
    reads: ['mix.exs', '.formatter.exs', '.iex.exs'],
    leaves: 'dependencies',
  },
  {
    programs: ['nix', 'nix-shell', 'nix-build', 'devbox', 'devenv'],
    reads: ['flake.nix', 'flake.lock', 'shell.nix', 'default.nix', 'devbox.json', 'devenv.nix'],
    leaves: 'packages of nix',
  },
  {
    programs: ['bazel', 'bazelisk', 'buck2', 'pants'],
    reads: [
      'MODULE.bazel',
      'WORKSPACE',
      'BUILD',
      'BUILD.bazel',
      '.bazelrc',
      '.buckconfig',
      'pants.toml',
    ],
    leaves: 'what it builds from',
  },
  {
    programs: ['cmake', 'ninja', 'meson'],
    reads: ['CMakeLists.txt', 'CMakePresets.json', 'build.ninja', 'meson.build'],
  },
]

/** Files that a program loads if a folder is named instead of a file. */
export const folderEntries: readonly string[] = [
  ...['js', 'cjs', 'mjs', 'ts', 'cts', 'mts', 'jsx', 'tsx', 'json', 'node'].map(
    (end) => `index.${end}`,
  ),
  'package.json',
  '__main__.py',
  '__init__.py',
  'mod.ts',
  'main.ts',
  'main.go',
  'index.php',
  'init.lua',
]

/** The keys of a `package.json` that decide what starts. The other keys name packages, which are not compared. */
export const manifestKeys: readonly string[] =
  'type main module exports imports bin browser scripts packageManager workspaces config'.split(' ')

/** Returns the runner of a word, also for `python3.12`, `/usr/bin/make` and `npm.cmd`. */
export function runnerOf(word: string): Runner | undefined {
  return byProgram.get(programName(word))
}

/** Returns the name of a program without its folder, its extension and its version. */
export function programName(word: string): string {
  const base = word.slice(Math.max(word.lastIndexOf('/'), word.lastIndexOf('\\')) + 1)
  const bare = base.toLowerCase().replace(/\.(?:exe|cmd|bat|ps1)$/, '')
  return byProgram.has(bare) ? bare : bare.replace(/(?:[@-]?\d[\w.]*|w)$/, '')
}

const byProgram: ReadonlyMap<string, Runner> = new Map(
  runners.flatMap((runner) => runner.programs.map((program) => [program, runner] as const)),
)
