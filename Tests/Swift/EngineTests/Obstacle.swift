import Foundation

/// What another program may put in the place of a file.
enum Obstacle: String, CaseIterable {
    case hardLink, symbolicLink, linkToFolder, linkToNothing, folder, fifo, socket, device

    /// - Returns: false if this machine does not let the tests make it.
    func put(at path: String, outside: OutsideFolder) -> Bool {
        switch self {
        case .hardLink: link(outside.file, path) == 0
        case .symbolicLink: symlink(outside.file, path) == 0
        case .linkToFolder: symlink(outside.path, path) == 0
        case .linkToNothing: symlink(outside.path("made"), path) == 0
        case .folder: mkdir(path, 0o700) == 0
        case .fifo: mkfifo(path, 0o600) == 0
        case .socket: mknod(path, S_IFSOCK | 0o600, 0) == 0
        // /dev/null
        case .device: mknod(path, S_IFCHR | 0o600, 1 << 8 | 3) == 0
        }
    }
}
