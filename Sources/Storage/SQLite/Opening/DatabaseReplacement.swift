import Formats
import Foundation
import GRDB

/// Puts the draft of a restore in the place of the database, and keeps the former database.
///
/// While this happens, the mark has the state `restoring` and the identity of the draft. Each step can be repeated, so
/// that a start completes a restore that was interrupted.
struct DatabaseReplacement {
    private let folder: DataFolder
    private let onStep: (Restoration.Step) throws -> Void

    init(_ folder: DataFolder, _ onStep: @escaping (Restoration.Step) throws -> Void = { _ in }) {
        self.folder = folder
        self.onStep = onStep
    }

    var draft: String { folder.database + ".restoring" }

    func removeDraft() { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(draft + suffix) } }

    /// Completes an interrupted restore.
    ///
    /// - Throws: `restoreUnfinished` if the draft is lost and not in place.
    func complete(_ mark: MarkFile, at now: Date) throws -> String? {
        let identity = mark.mark.identity
        var kept: String?
        if Self.identity(of: draft) == identity {
            kept = try putInPlace(at: now)
        } else if Self.identity(of: folder.database) != identity {
            throw StoreError.restoreUnfinished(path: folder.path)
        }
        try mark.set(mark.mark.closed, in: folder)
        return kept
    }

    /// Moves the log first: without its database it would damage any other one.
    ///
    /// - Returns: the new path of the former database; nil if there is none.
    func putInPlace(at now: Date) throws -> String? {
        let hasFormer = try folder.size(of: folder.database) != nil
        let kept = try nameOfInterrupted() ?? freeName(at: now)
        if try folder.size(of: folder.log) != nil {
            try folder.rename(folder.log, to: kept + (hasFormer ? Self.log : ".log-alone"))
        }
        try onStep(.logKept)
        unlink(folder.index)
        if hasFormer { try folder.rename(folder.database, to: kept) }
        try onStep(.databaseKept)
        try folder.rename(draft, to: folder.database)
        try folder.sync()
        try onStep(.placed)
        return hasFormer ? kept : nil
    }

    private static let log = "-wal"

    /// The name for a former database whose log was moved already.
    private func nameOfInterrupted() throws(StoreError) -> String? {
        let names = Set(try folder.fileNames())
        let prefix = FolderPath.name(of: folder.database) + ".replaced-"
        let logs = names.filter { $0.hasPrefix(prefix) && $0.hasSuffix(Self.log) }
        let kept = logs.map { String($0.dropLast(Self.log.count)) }.filter { !names.contains($0) }
        return kept.max().map { "\(folder.path)/\($0)" }
    }

    private func freeName(at now: Date) -> String {
        let stamp = now.rfc3339.filter { $0.isNumber || $0 == "T" || $0 == "Z" }
        var name = "\(folder.database).replaced-\(stamp)"
        while [name, name + Self.log].contains(where: FileManager.default.fileExists) { name += "-1" }
        return name
    }

    /// `history.identity` of a database; nil if it cannot be read.
    private static func identity(of file: String) -> String? {
        try? Connections.read(file, History.read)?.identity
    }
}
