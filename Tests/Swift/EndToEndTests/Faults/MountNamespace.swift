import TestKit

/// Tests with a small disk mount a file system of their own, in a user namespace. Some machines forbid that.
enum MountNamespace {
    static let isPossible = SpawnedProgram.succeeds([
        "unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt",
    ])
}
