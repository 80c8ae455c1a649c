import Foundation

/// The type of the file system of a folder.
enum FileSystemType {
    /// File systems on which the locks and the shared memory of SQLite's log do not work reliably.
    private static let ofNetworks: Set<String> = [
        "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "fuse.sshfs", "fuse.glusterfs",
    ]

    /// The type, if it is that of a network.
    static func network(of path: String) -> String? {
        guard let mounts = try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8) else { return nil }
        let resolved = URL(filePath: path).resolvingSymlinksInPath().path
        return name(at: resolved, in: mounts).flatMap { ofNetworks.contains($0) ? $0 : nil }
    }

    /// - Parameter mounts: the text of /proc/self/mounts (fstab(5)). Of mounts on one folder, the last is visible.
    static func name(at path: String, in mounts: String) -> String? {
        var best: (folder: String, type: String)?
        for line in mounts.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count >= 3 else { continue }
            let folder = String(words[1]).replacing("\\040", with: " ")
            let isAbove = folder == "/" || path == folder || path.hasPrefix(folder + "/")
            if isAbove, folder.utf8.count >= best?.folder.utf8.count ?? 0 { best = (folder, String(words[2])) }
        }
        return best?.type
    }
}
