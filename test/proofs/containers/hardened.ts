/** The user of the image. */
export const USER = 65_532;

/** The settings of the manifests, for `podman run`. Podman would mount writable folders into a read-only root. */
export const HARDENED = [
  ...['--read-only', '--read-only-tmpfs=false', '--cap-drop=ALL', '--security-opt=no-new-privileges'],
  ...['--network=host', `--user=${USER}:${USER}`],
];
