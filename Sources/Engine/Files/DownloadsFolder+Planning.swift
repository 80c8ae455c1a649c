import Base
import CLinux
import Downloads
import Formats
import Foundation

extension DownloadsFolder {
    /// Plans the destination of each part. Two parts of one round never get the same name.
    func plans(for requests: [FinalizeRequest], at now: Date) -> [Result<FinalizePlan, FinalizeFault>] {
        // Bytes: Swift considers two spellings of an accent equal, but most disks have a file for each.
        var taken: Set<[UInt8]> = []
        return requests.map { request in
            do throws(FinalizeFault) {
                let place = request.place
                guard place.location == request.attempt.location.name else { throw FinalizeFault.relocated }
                let folder = try folderForFile(place.directory, isMade: place.createDirectories)
                let path = try freePath(request.filename(at: now), place.directory, folder, place.conflict, taken)
                taken.insert(Array(path.utf8))
                let mark = try FinalizeFault.wrapping(request.file.part.mark)
                return .success(request.promotion(path: path, mark: mark, at: now))
            } catch {
                return .failure(error)
            }
        }
    }

    /// The same promotion with the next free name.
    func renamed(_ promotion: FinalizePlan) -> Result<FinalizePlan, FinalizeFault> {
        let (directory, name) = PathComponents.last(of: promotion.file.path)
        do throws(FinalizeFault) {
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
        _ taken: Set<[UInt8]>
    ) throws(FinalizeFault) -> String {
        let prefix = directory.isEmpty ? "" : directory + "/"
        if conflict == .replace { return prefix + name }
        var number = 0
        while true {
            let candidate = number == 0 ? name : FilePathRule.numbered(name, number)
            let path = prefix + candidate
            if !taken.contains(Array(path.utf8)), FolderEntry(candidate, in: folder).status == nil { return path }
            guard conflict == .rename else { throw .occupied(path) }
            number += 1
        }
    }

    func folderForFile(_ directory: String, isMade: Bool) throws(FinalizeFault) -> Descriptor {
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
}

/// Why a part did not become a file.
enum FinalizeFault: Error {
    case disk(DiskError)
    /// A file exists at the destination, and the job allows neither rename nor replace.
    case occupied(String)
    /// The destination is a folder, or a component of its path is not a folder.
    case invalid(String)
    /// Neither the part nor the file exists.
    case vanished
    /// Another file has the part's name, or another program has written to the part since its verification.
    case changed
    /// Only the bucket had the bytes, and what it has of them cannot become the object of the job.
    case uploadLost
    /// The file is in its place, but the folder could not be synced: a power failure may undo the rename.
    case unsynced(DiskError)
    /// Another file took the name after the plan; another name has to be planned.
    case nameTaken
    /// A client has chosen another location since the attempt began.
    case relocated
    /// Meanwhile other jobs have used up the session's `max_total_size`.
    case excess(SizeLimit)

    /// Runs a disk operation of a promotion.
    static func wrapping<Value>(_ operation: () throws(DiskError) -> Value) throws(FinalizeFault) -> Value {
        do throws(DiskError) {
            return try operation()
        } catch {
            throw .disk(error)
        }
    }

    static func notAFolder(_ path: String) -> FinalizeFault {
        .invalid("\(path) leads through something that is not a folder.")
    }

    /// Whether the job has to fetch the file again.
    var isPartLost: Bool {
        switch self {
        case .vanished, .changed, .uploadLost: true
        case .disk, .occupied, .invalid, .nameTaken, .unsynced, .relocated, .excess: false
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
        case .uploadLost:
            Failure(
                .storageError, "The bytes that the bucket has cannot become the object. The file is fetched again.")
        case .unsynced(let error): error.failure
        case .excess(let limit): limit.failure
        case .relocated: Failure(.destinationInvalid, "The job has another location since its transfer began.")
        case .nameTaken: Failure(.destinationExists, "The name was taken while the file was moved to its place.")
        }
    }
}
