import Downloads
import Formats

/// Writes the plan of a promotion, and what a succeeded job leaves, in the form of `Stored+JobSpec.swift`.
extension Stored {
    static func text(_ promotion: Promotion) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.object("part") { $0.member("text", promotion.part.text) }
            writer.member("inode", json(promotion.inode))
            writer.member("conflict", promotion.conflict.rawValue)
            writer.object("file") { write(promotion.file, to: &$0) }
            writer.object("receipt") { write(promotion.receipt, to: &$0) }
        }
        return writer.text
    }

    static func text(_ finish: Finish) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.object("file") { write(finish.file, to: &$0) }
            writer.object("receipt") { write(finish.receipt, to: &$0) }
        }
        return writer.text
    }

    private static func write(_ file: FinishedFile, to writer: inout JSONWriter) {
        writer.member("path", file.path)
        writer.member("size", file.size)
        if let sha256 = file.sha256 { writer.member("sha256", sha256) }
        if let contentType = file.contentType { writer.member("contentType", contentType) }
        if let mark = file.mark { writer.object("mark") { write(mark, to: &$0) } }
    }

    private static func write(_ mark: FileMark, to writer: inout JSONWriter) {
        writer.member("inode", json(mark.inode))
        writer.member("modified", mark.modified)
        if let born = mark.born { writer.member("born", born) }
    }

    private static func write(_ receipt: Receipt, to writer: inout JSONWriter) {
        writer.member("finalURL", receipt.finalURL)
        writer.member("redirects", receipt.redirects)
        writer.member("status", receipt.status)
        writer.member("networkProtocol", receipt.networkProtocol)
        writer.member("lengthVerified", receipt.lengthVerified)
        writer.member("attempts", receipt.attempts)
        writer.object("timings") { writer in
            writer.member("connect", receipt.timings.connect)
            writer.member("firstByte", receipt.timings.firstByte)
            writer.member("transfer", receipt.timings.transfer)
            writer.member("total", receipt.timings.total)
        }
        if let etag = receipt.etag { writer.member("etag", etag) }
        if let lastModified = receipt.lastModified { writer.member("lastModified", lastModified) }
        if let coding = receipt.coding { writer.object("coding") { write(coding, to: &$0) } }
        if let remoteAddress = receipt.remoteAddress { writer.member("remoteAddress", remoteAddress) }
    }

    private static func write(_ coding: Receipt.Coding, to writer: inout JSONWriter) {
        writer.member("name", coding.name)
        writer.member("isDecoded", coding.isDecoded)
        writer.member("size", coding.size)
        if let sha256 = coding.sha256 { writer.member("sha256", sha256) }
    }

    /// `JSON.integer` is too small for some inode numbers.
    private static func json(_ number: UInt64) -> JSON { .text(String(number)) }
}
