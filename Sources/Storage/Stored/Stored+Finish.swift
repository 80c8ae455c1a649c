import Downloads
import Formats

/// Writes the plan of a promotion, and what a succeeded job leaves, in the form of `Stored+JobSpec.swift`.
extension Stored {
    static func text(_ promotion: Promotion) -> String {
        let stored: JSON = [
            "part": ["text": .string(promotion.part.text)], "inode": json(promotion.inode),
            "conflict": .string(promotion.conflict.rawValue), "file": json(promotion.file),
            "receipt": json(promotion.receipt),
        ]
        return stored.written
    }

    static func text(_ finish: Finish) -> String {
        let stored: JSON = ["file": json(finish.file), "receipt": json(finish.receipt)]
        return stored.written
    }

    private static func json(_ file: FinishedFile) -> JSON {
        var stored: JSONObject = ["path": .string(file.path), "size": .integer(file.size)]
        stored["sha256"] = file.sha256.map(JSON.string)
        stored["contentType"] = file.contentType.map(JSON.string)
        stored["mark"] = file.mark.map(json)
        return .object(stored)
    }

    private static func json(_ mark: FileMark) -> JSON {
        var stored: JSONObject = ["inode": json(mark.inode), "modified": .integer(mark.modified)]
        stored["born"] = mark.born.map(JSON.integer)
        return .object(stored)
    }

    private static func json(_ receipt: Receipt) -> JSON {
        var stored: JSONObject = [
            "finalURL": .string(receipt.finalURL), "redirects": .strings(receipt.redirects),
            "status": .count(receipt.status), "networkProtocol": .string(receipt.networkProtocol),
            "lengthVerified": .bool(receipt.lengthVerified), "attempts": .count(receipt.attempts),
            "timings": [
                "connect": .number(receipt.timings.connect), "firstByte": .number(receipt.timings.firstByte),
                "transfer": .number(receipt.timings.transfer), "total": .number(receipt.timings.total),
            ],
        ]
        stored["etag"] = receipt.etag.map(JSON.string)
        stored["lastModified"] = receipt.lastModified.map(JSON.string)
        stored["coding"] = receipt.coding.map(json)
        stored["remoteAddress"] = receipt.remoteAddress.map(JSON.string)
        return .object(stored)
    }

    private static func json(_ coding: Receipt.Coding) -> JSON {
        var stored: JSONObject = [
            "name": .string(coding.name), "isDecoded": .bool(coding.isDecoded), "size": .integer(coding.size),
        ]
        stored["sha256"] = coding.sha256.map(JSON.string)
        return .object(stored)
    }

    /// `JSON.integer` is too small for some inode numbers.
    private static func json(_ number: UInt64) -> JSON { .text(String(number)) }
}
