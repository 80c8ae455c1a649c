import Foundation

/// A file system of a few megabytes for the data folder, mounted in the service's own mount namespace.
enum SmallDataDisk {
    /// Runs a program with `$0/data` on 4 MB of memory, which `$0/data/ballast` fills.
    static let launcher = [
        "unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
        """
        mkdir -p "$0/data" && mount -t tmpfs -o size=4m tmpfs "$0/data" || exit 1
        dd if=/dev/zero of="$0/data/ballast" bs=4096 2>/dev/null
        exec setpriv --pdeathsig KILL -- "$@"
        """,
    ]

    /// Makes room in the file system that only the process sees.
    static func empty(_ folder: String, of process: Int32) throws {
        try FileManager.default.removeItem(atPath: "/proc/\(process)/root\(folder)/data/ballast")
    }
}
