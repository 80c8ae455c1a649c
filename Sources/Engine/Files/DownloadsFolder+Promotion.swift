import CLinux
import Downloads
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
            case ENOENT: throw .invalid("The folder \(directory) does not exist, and create_directories is false.")
            case ENOTDIR, ELOOP: throw .invalid("\(directory) leads through something that is not a folder.")
            default: throw .disk(error)
            }
        }
    }

    /// Renames the parts to their places and syncs the folders that now hold them, each once.
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
                    faults[index] = faults[index] ?? .disk(error)
                }
            }
        }
        return faults
    }

    private static func folderBytes(_ promotion: Promotion) -> [UInt8] {
        Array(PathComponents.last(of: promotion.file.path).folder.utf8)
    }

    /// Renames the part to its place. Done already is done.
    private func place(_ promotion: Promotion) throws(PromotionFault) -> Descriptor {
        let (directory, name) = PathComponents.last(of: promotion.file.path)
        let folder = try folderForFile(directory, isMade: true)
        guard PathComponents.isOne(name) else { throw .invalid("\(promotion.file.path) names no file.") }
        let part = promotion.part.fileName
        let result =
            promotion.conflict == .replace
            ? renameat(parts.number, part, folder.number, name)
            : linux_rename_noreplace(parts.number, part, folder.number, name)
        if result == 0 { return folder }
        let code = errno
        switch code {
        case ENOENT where isPlaced(promotion, as: name, in: folder): return folder
        case ENOENT: throw .vanished
        case EEXIST where promotion.conflict == .rename: throw .nameTaken
        case EEXIST: throw .occupied(promotion.file.path)
        case EISDIR, ENOTEMPTY: throw .invalid("\(promotion.file.path) is a folder and cannot be replaced.")
        default: throw .disk(DiskError("move the file to its place", code: code))
        }
    }

    private func isPlaced(_ promotion: Promotion, as name: String, in folder: Descriptor) -> Bool {
        var status = stat()
        return fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0
            && UInt64(status.st_ino) == promotion.inode && Int64(status.st_size) == promotion.file.size
    }
}

extension DownloadsFolder.PromotionFault {
    var failure: Failure {
        switch self {
        case .disk(let error): error.failure
        case .occupied(let path):
            Failure(
                .destinationExists,
                "\(path) exists already. Retry with on_conflict rename or replace, or remove the file.")
        case .invalid(let why): Failure(.destinationInvalid, why)
        case .vanished: Failure(.storageError, "The verified part has vanished from the folder of parts.")
        case .nameTaken: Failure(.destinationExists, "The name was taken while the file was moved to its place.")
        }
    }
}
