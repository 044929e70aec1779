/** The numeric user id of the image. */
export const USER = 65_532;

/**
 * The settings of the manifests as flags of `podman run`. By default, podman would mount writable folders into a
 * read-only root.
 */
export const HARDENED = [
  ...['--read-only', '--read-only-tmpfs=false', '--cap-drop=ALL', '--security-opt=no-new-privileges'],
  ...['--network=host', `--user=${USER}:${USER}`],
];
