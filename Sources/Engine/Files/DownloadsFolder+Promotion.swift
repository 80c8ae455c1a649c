import CLinux
import Descriptors
import Downloads
import Formats
import Foundation

/// Turning a part into a file, in steps that can each be repeated after a crash.
extension DownloadsFolder {
    /// Why a part did not become a file.
    enum PromotionFault: Error {
        case disk(DiskError)
        /// Something is there, and the job does not want it renamed or replaced.
        case occupied(String)
        /// What is there cannot be replaced, or the way to it is no folder.
        case invalid(String)
        /// Neither part nor file is there.
        case vanished
        /// Another file has the part's name, or another program has written to it since it was verified.
        case changed
        /// The file is in its place, and the folder could not be synced: a power failure may undo the rename.
        case unsynced(DiskError)
        /// The name was taken in the meantime; another one has to be planned.
        case nameTaken
    }

    /// Decides where each part goes; two of one round never get the same name.
    func promotions(of orders: [PromotionOrder], at now: Date) -> [Result<Promotion, PromotionFault>] {
        var taken: Set<String> = []
        return orders.map { order in
            do throws(PromotionFault) {
                let place = order.place
                let folder = try folderForFile(place.directory, isMade: place.createDirectories)
                let path = try freePath(order.filename(at: now), place.directory, folder, place.conflict, taken)
                taken.insert(path)
                return .success(order.promotion(path: path, mark: try published(order.whole.file), at: now))
            } catch {
                return .failure(error)
            }
        }
    }

    /// The same promotion under the next free name.
    func renamed(_ promotion: Promotion) -> Result<Promotion, PromotionFault> {
        let (directory, name) = PathComponents.last(of: promotion.file.path)
        do throws(PromotionFault) {
            var renamed = promotion
            let folder = try folderForFile(directory, isMade: true)
            renamed.file.path = try freePath(name, directory, folder, promotion.conflict, [])
            return .success(renamed)
        } catch {
            return .failure(error)
        }
    }

    /// `name` from the root, or with a number where that is taken and `rename` is asked for.
    private func freePath(
        _ name: String, _ directory: String, _ folder: Descriptor, _ conflict: Destination.Conflict,
        _ taken: Set<String>
    ) throws(PromotionFault) -> String {
        let prefix = directory.isEmpty ? "" : directory + "/"
        if conflict == .replace { return prefix + name }
        var number = 0
        while true {
            let candidate = number == 0 ? name : FilePathRule.numbered(name, number)
            let path = prefix + candidate
            if !taken.contains(path), !exists(candidate, in: folder) { return path }
            guard conflict == .rename else { throw .occupied(path) }
            number += 1
        }
    }

    private func exists(_ name: String, in folder: Descriptor) -> Bool {
        var status = stat()
        return fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0
    }

    private func published(_ file: PartFile) throws(PromotionFault) -> FileMark {
        do throws(DiskError) {
            try file.publish()
            return try file.mark()
        } catch {
            throw .disk(error)
        }
    }

    private func folderForFile(_ directory: String, isMade: Bool) throws(PromotionFault) -> Descriptor {
        do throws(DiskError) {
            return try folder(directory, isMade: isMade)
        } catch {
            switch error.code {
            case ENOENT where !isMade:
                throw .invalid("The folder \(directory) does not exist, and create_directories is false.")
            case ENOTDIR, ELOOP: throw .invalid("\(directory) leads through something that is not a folder.")
            default: throw .disk(error)
            }
        }
    }

    /// Renames the parts to their places and syncs the folders that now hold them, each once.
    ///
    /// Can be repeated, after a crash or after `unsynced`: a file that is in its place is taken back and renamed once more,
    /// because a folder whose sync has failed is only believed after another change.
    ///
    /// - Returns: for each, in order, what went wrong; nil when the file is in its place, durable.
    func place(_ promotions: [Promotion]) -> [PromotionFault?] {
        // By their bytes: to Swift, two spellings of one accent are the same text, to the disk they are two folders.
        var folders: [[UInt8]: Descriptor] = [:]
        var faults: [PromotionFault?] = promotions.map { promotion in
            do throws(PromotionFault) {
                folders[Self.folderBytes(promotion)] = try place(promotion)
                return nil
            } catch {
                return error
            }
        }
        for (path, folder) in folders {
            do throws(DiskError) {
                try folder.sync()
            } catch {
                for index in promotions.indices where Self.folderBytes(promotions[index]) == path {
                    faults[index] = faults[index] ?? .unsynced(error)
                }
            }
        }
        return faults
    }

    private static func folderBytes(_ promotion: Promotion) -> [UInt8] {
        Array(PathComponents.last(of: promotion.file.path).folder.utf8)
    }

    /// Renames the part to its place.
    private func place(_ promotion: Promotion) throws(PromotionFault) -> Descriptor {
        let (directory, name) = PathComponents.last(of: promotion.file.path)
        let folder = try folderForFile(directory, isMade: true)
        guard PathComponents.isOne(name) else { throw .invalid("\(promotion.file.path) names no file.") }
        let part = promotion.part.fileName
        switch identity(of: promotion, at: part, in: parts) {
        case .same: break
        case .other: throw .changed
        case .missing: try takeBack(promotion, from: name, in: folder)
        }
        // Set before the plan was committed; a loss of power may have undone it.
        guard fchmodat(parts.number, part, FileModes.published, 0) == 0 else {
            throw .disk(DiskError("set the file's permissions"))
        }
        let result =
            promotion.conflict == .replace
            ? renameat(parts.number, part, folder.number, name)
            : linux_rename_noreplace(parts.number, part, folder.number, name)
        guard result == 0 else { throw Self.fault(errno, promotion) }
        // Another file may have been given the part's name in the moment before.
        guard case .same = identity(of: promotion, at: name, in: folder) else {
            _ = linux_rename_noreplace(folder.number, name, parts.number, part)
            throw .changed
        }
        return folder
    }

    private static func fault(_ code: Int32, _ promotion: Promotion) -> PromotionFault {
        switch code {
        case ENOENT: .vanished
        case EEXIST where promotion.conflict == .rename: .nameTaken
        case EEXIST: .occupied(promotion.file.path)
        case EISDIR, ENOTEMPTY: .invalid("\(promotion.file.path) is a folder and cannot be replaced.")
        default: .disk(DiskError("move the file to its place", code: code))
        }
    }

    /// A rename that was done before, and of which it is not known whether it is durable, is undone.
    private func takeBack(_ promotion: Promotion, from name: String, in folder: Descriptor) throws(PromotionFault) {
        guard case .same = identity(of: promotion, at: name, in: folder) else { throw .vanished }
        guard linux_rename_noreplace(folder.number, name, parts.number, promotion.part.fileName) == 0 else {
            throw .disk(DiskError("move the file back to the parts"))
        }
        // What follows may rest on the part's name: a refusal that is committed, or another destination.
        do throws(DiskError) {
            try syncs.syncNames(in: parts)
            try folder.sync()
        } catch {
            throw .unsynced(error)
        }
    }

    private enum Identity { case same, other, missing }

    /// Whether the verified part has this name, unchanged.
    private func identity(of promotion: Promotion, at name: String, in folder: Descriptor) -> Identity {
        var status = stat()
        guard fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return .missing }
        let modified = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
        let isSame =
            UInt64(status.st_ino) == promotion.inode && Int64(status.st_size) == promotion.file.size
            && promotion.file.mark.map { isSameTime(modified, $0.modified) } ?? true
        return isSame ? .same : .other
    }

    /// After a restart, some file systems know whole seconds only.
    private func isSameTime(_ found: Int64, _ recorded: Int64) -> Bool {
        let second: Int64 = 1_000_000_000
        return found == recorded || found % second == 0 && found / second == recorded / second
    }
}

extension DownloadsFolder.PromotionFault {
    /// Whether the job has to fetch the file again.
    var isPartLost: Bool {
        switch self {
        case .vanished, .changed: true
        case .disk, .occupied, .invalid, .nameTaken, .unsynced: false
        }
    }

    var failure: Failure {
        switch self {
        case .disk(let error): error.failure
        case .occupied(let path):
            Failure(
                .destinationExists,
                "\(path) exists already. Retry with on_conflict rename or replace, or remove the file.")
        case .invalid(let why): Failure(.destinationInvalid, why)
        case .vanished: Failure(.storageError, "The verified part has vanished from the folder of parts.")
        case .changed: Failure(.storageError, "Another program has changed the part since it was verified.")
        case .unsynced(let error): error.failure
        case .nameTaken: Failure(.destinationExists, "The name was taken while the file was moved to its place.")
        }
    }
}
