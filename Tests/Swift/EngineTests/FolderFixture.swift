import Downloads
import Foundation
import TestKit

@testable import Engine

/// A downloads folder with parts in it, without a store or a network.
struct FolderFixture {
    let temporary: TemporaryFolder
    let folder: DownloadsFolder
    let diskQueue = DiskQueues(count: 1).next()

    init(
        modes: FileModes = FileModes(), for use: FolderUse = .alone, moving move: ExclusiveMove = ExclusiveMove(),
        in temporary: TemporaryFolder? = nil
    ) throws {
        self.temporary = try temporary ?? TemporaryFolder()
        folder = try DownloadsFolder(
            at: self.temporary.path, minimumFreeBytes: nil, modes: modes, for: use, claimedBy: nil, moving: move)
    }

    func part(_ name: String, _ text: String) throws -> PartFile {
        let (folder, id) = (folder, PartID(name))
        let part = PartFile(id, digesting: [.sha256], diskQueue: diskQueue, in: folder) { () throws(DiskError) in
            try folder.makePart(id)
        }
        try part.open()
        try Array(text.utf8).withUnsafeBytes { bytes in try part.write(bytes, at: 0) }
        return part
    }

    func promotion(
        of part: PartFile, to path: String, size: Int64, _ conflict: Destination.Conflict = .rename
    ) throws -> FinalizePlan {
        FinalizePlan(
            part: part.id, inode: try part.mark().inode, conflict: conflict,
            file: FinishedFile(path: path, size: size, sha256: nil, contentType: nil, mark: try part.mark()),
            receipt: Receipt(
                finalURL: "", redirects: [], status: 200, etag: nil, lastModified: nil, remoteAddress: nil,
                networkProtocol: "", lengthVerified: true, attempts: 1,
                timings: Receipt.Timings(connect: 0, firstByte: 0, transfer: 0, total: 0)))
    }

    func text(_ path: String) -> String? { temporary.bytes(of: path).map { String(decoding: $0, as: UTF8.self) } }
}
