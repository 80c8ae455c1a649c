import Base
import Foundation
import Glibc

/// The claim of a database on a downloads folder: a lock on the file `lock` among the parts, which also has the identity of the
/// database. Without it, a second service would remove the parts of the first, because its database does not know them.
///
/// Services that share their database and the folder have the lock together. The kernel ends a lock when its process ends in any
/// way. A file system without locks has only the identity.
struct FolderClaim: Sendable {
    var database: String
    /// Whether other services of the database may have the folder at the same time.
    var isShared: Bool
    /// `flock`, or what stands in its place. Returns 0 or the error code.
    var lock: @Sendable (_ file: Int32, _ operation: Int32) -> Int32 = { flock($0, $1) == 0 ? 0 : errno }

    enum Refusal: Error {
        case inUse
        /// Another database has used it last, and there are no locks.
        case uncertain
        case failed(DiskError)
    }

    /// A claim that holds as long as the file is open.
    struct Held: Sendable {
        let file: Descriptor
        /// Since when the database has the folder; nil: no other database had it before.
        let since: Date?

        /// Ends it also while a forked child has a copy of the descriptor.
        func release() { flock(file.number, LOCK_UN) }
    }

    static let name = "lock"

    func callAsFunction(in parts: Descriptor) throws(Refusal) -> Held {
        let file: Descriptor
        do throws(DiskError) {
            file = try .open(
                Self.name, in: parts, flags: O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, to: "open the lock")
        } catch {
            throw .failed(error)
        }
        for _ in 0..<Self.mostTries {
            if let since = try claim(file) { return Held(file: file, since: since.moment) }
            usleep(Self.pause)
        }
        throw .inUse
    }

    /// Services that start together wait until the first has written the identity.
    private static let mostTries = 20
    private static let pause: useconds_t = 50_000

    /// - Returns: nil: try again, because another service may be about to share the folder.
    private func claim(_ file: Descriptor) throws(Refusal) -> Owner? {
        switch lock(file.number, LOCK_EX | LOCK_NB) {
        case 0:
            let owner = takeOwnership(of: file)
            guard isShared else { return owner }
            // The change of a lock can lose it (flock(2)), and another database can have taken the folder meanwhile.
            guard lock(file.number, LOCK_SH | LOCK_NB) == 0, Owner(file)?.database ?? database == database else {
                return nil
            }
            return owner
        case EWOULDBLOCK:
            guard isShared else { throw .inUse }
            guard lock(file.number, LOCK_SH | LOCK_NB) == 0 else { return nil }
            guard let owner = Owner(file), owner.database == database else { throw .inUse }
            return owner
        default:
            if let owner = Owner(file), owner.database != database { throw .uncertain }
            return takeOwnership(of: file)
        }
    }

    /// Makes the database the owner, if another one has been.
    private func takeOwnership(of file: Descriptor) -> Owner {
        let former = Owner(file)
        if let former, former.database == database { return former }
        let owner = Owner(database: database, moment: former == nil ? nil : Date())
        // On a full disk the lock alone holds.
        owner.write(to: file)
        return owner
    }

    /// The text of the file.
    private struct Owner {
        var database: String
        var moment: Date?

        init(database: String, moment: Date?) {
            self.database = database
            self.moment = moment
        }

        /// nil if the file has no such text: it is new.
        init?(_ file: Descriptor) {
            var bytes = [UInt8](repeating: 0, count: Self.longest)
            let count = pread(file.number, &bytes, bytes.count, 0)
            guard count > 0 else { return nil }
            let words = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")[0].split(separator: " ")
            guard words.count == 3, words[0] == "fetchd", let seconds = Double(words[2]) else { return nil }
            self.init(database: String(words[1]), moment: seconds > 0 ? Date(timeIntervalSince1970: seconds) : nil)
        }

        func write(to file: Descriptor) {
            let text = Array("fetchd \(database) \(moment?.timeIntervalSince1970 ?? 0)\n".utf8)
            guard pwrite(file.number, text, text.count, 0) == text.count else { return }
            ftruncate(file.number, off_t(text.count))
            fsync(file.number)
        }

        private static let longest = 256
    }
}
