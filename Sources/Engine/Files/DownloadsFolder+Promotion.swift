import CLinux
import Descriptors
import Downloads
import Formats
import Foundation

/// Turns parts into files. Each step can be repeated after a crash.
extension DownloadsFolder {
    /// Why a part did not become a file.
    enum PromotionFault: Error {
        case disk(DiskError)
        /// A file exists at the destination, and the job allows neither rename nor replace.
        case occupied(String)
        /// The destination is a folder, or a component of its path is not a folder.
        case invalid(String)
        /// Neither the part nor the file exists.
        case vanished
        /// Another file has the part's name, or another program has written to the part since its verification.
        case changed
        /// The file is in its place, but the folder could not be synced: a power failure may undo the rename.
        case unsynced(DiskError)
        /// Another file took the name after the plan; another name has to be planned.
        case nameTaken

        static func notAFolder(_ path: String) -> PromotionFault {
            .invalid("\(path) leads through something that is not a folder.")
        }
    }

    /// Plans the destination of each part. Two parts of one round never get the same name.
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

    /// The same promotion with the next free name.
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

    /// The path with `name`. If the name is taken and the conflict rule is `rename`, the name gets a number.
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
            case ENOTDIR, ELOOP: throw .notAFolder(directory)
            default: throw .disk(error)
            }
        }
    }

    /// Renames the parts to their places, and syncs each destination folder once.
    ///
    /// The call can be repeated, after a crash or after `unsynced`. A file that is in its place is then moved back and
    /// renamed again, because a successful sync after a failed one proves nothing unless the folder has changed.
    ///
    /// - Returns: the fault of each promotion, in order; nil when the file is durable in its place.
    func place(_ promotions: [Promotion]) -> [PromotionFault?] {
        // The keys are bytes: Swift considers two spellings of an accent equal, but the disk has a folder for each.
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
        // The plan set the permissions before it was committed, but a power failure may have undone that.
        guard fchmodat(parts.number, part, FileModes.published, 0) == 0 else {
            throw .disk(DiskError("set the file's permissions"))
        }
        let result =
            promotion.conflict == .replace
            ? renameat(parts.number, part, folder.number, name)
            : linux_rename_noreplace(parts.number, part, folder.number, name)
        guard result == 0 else { throw Self.fault(errno, promotion) }
        // Another program may have given the part's name to another file just before the rename.
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

    /// Moves a renamed file back to the parts, because its rename may not be durable.
    private func takeBack(_ promotion: Promotion, from name: String, in folder: Descriptor) throws(PromotionFault) {
        guard case .same = identity(of: promotion, at: name, in: folder) else { throw .vanished }
        guard linux_rename_noreplace(folder.number, name, parts.number, promotion.part.fileName) == 0 else {
            throw .disk(DiskError("move the file back to the parts"))
        }
        // Later steps may depend on the part's name: a committed refusal, or another destination.
        do throws(DiskError) {
            try syncs.syncNames(in: parts)
            try folder.sync()
        } catch {
            throw .unsynced(error)
        }
    }

    private enum Identity { case same, other, missing }

    /// Whether the verified part has this name and is unchanged.
    private func identity(of promotion: Promotion, at name: String, in folder: Descriptor) -> Identity {
        var status = stat()
        guard fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return .missing }
        let modified = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
        let isSame =
            UInt64(status.st_ino) == promotion.inode && Int64(status.st_size) == promotion.file.size
            && promotion.file.mark.map { isSameTime(modified, $0.modified) } ?? true
        return isSame ? .same : .other
    }

    /// Some file systems store only whole seconds, which shows after a restart.
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
