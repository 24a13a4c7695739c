/** Every picture and recording of the documentation by its name. Files are below `docs`. */
export const pictures: Readonly<
  Record<string, { files: readonly string[]; command: readonly string[]; needs?: string }>
>
