import Formats

/// `tsv`: the first line has the names of the columns, and each other line has a job.
struct TabSeparatedLines: LineFormat {
    let base: BaseURL
    private var columns: [Column]?

    init(base: BaseURL) { self.base = base }

    private enum Column: String, CaseIterable {
        case url, session, path, filename, directory, checksum, md5, sha1, sha256, sha512, size, priority, tags
    }

    mutating func read(_ line: String, at number: Int) -> [ListEntry] {
        let cells = line.cells
        guard let columns else {
            do throws(ListFault) {
                columns = try Self.columns(cells)
                return []
            } catch {
                return [ListEntry(line: number, error)]
            }
        }
        guard cells.count <= columns.count else {
            return [
                ListEntry(line: number, ListFault("The line has \(cells.count) cells for \(columns.count) columns."))
            ]
        }
        do throws(ListFault) {
            var job = JSONObject()
            for (column, cell) in zip(columns, cells) where !cell.isEmpty { try set(column, cell, in: &job) }
            return [ListEntry(line: number, job)]
        } catch {
            return [ListEntry(line: number, error)]
        }
    }

    private static func columns(_ names: [String]) throws(ListFault) -> [Column] {
        var columns: [Column] = []
        for name in names {
            let plain = name == "expected_size" ? "size" : name.lowercased().replacing("-", with: "")
            guard let column = Column(rawValue: plain) else {
                let known = Column.allCases.map(\.rawValue).joined(separator: ", ")
                throw ListFault("'\(name)' is not a column of a list. The columns are \(known).", isFatal: true)
            }
            guard !columns.contains(column) else {
                throw ListFault("The column '\(name)' is there twice.", isFatal: true)
            }
            columns.append(column)
        }
        guard columns.contains(.url) else { throw ListFault("The first line names no column 'url'.", isFatal: true) }
        return columns
    }

    private func set(_ column: Column, _ cell: String, in job: inout JSONObject) throws(ListFault) {
        switch column {
        case .url: job["url"] = .string(base.url(cell))
        case .session, .priority: job[column.rawValue] = .string(cell)
        case .tags: job["tags"] = .strings(cell.split(separator: ",").map { $0.trimmedBlanks })
        case .size: job["expected_size"] = try Self.size(cell)
        case .checksum:
            guard let checksum = ListChecksum.named(cell) else {
                throw ListFault("'\(cell)' is not a checksum such as sha-256:DIGITS.")
            }
            job["checksum"] = checksum
        case .md5, .sha1, .sha256, .sha512: job["checksum"] = ListChecksum.of(cell, algorithm: column.rawValue)
        case .filename, .directory: job.set(column.rawValue, in: "destination", to: .string(cell))
        case .path:
            guard let destination = ListPath(cell)?.destination?.objectValue else {
                throw ListFault("'\(cell)' is not a path below the downloads folder.")
            }
            for (name, value) in destination.members { job.set(name, in: "destination", to: value) }
        }
    }

    static func size(_ text: String) throws(ListFault) -> JSON {
        guard let size = Int64(text), size >= 0 else { throw ListFault("'\(text)' is not a size in bytes.") }
        return .integer(size)
    }
}

/// `ena`: a file report of the European Nucleotide Archive (ENA Portal API, `filereport`). A column such as `fastq_ftp` has the
/// addresses of the files of a run, separated by semicolons, and `fastq_md5` and `fastq_bytes` have their digests and sizes in the
/// same order.
struct ENALines: LineFormat {
    let base: BaseURL
    private var header: [String]?

    init(base: BaseURL) { self.base = base }

    mutating func read(_ line: String, at number: Int) -> [ListEntry] {
        let cells = line.cells
        guard let header else {
            header = cells
            guard cells.contains(where: { $0.hasSuffix(Self.addresses) }) else {
                return [
                    ListEntry(
                        line: number, ListFault("The first line names no column such as fastq_ftp.", isFatal: true))
                ]
            }
            return []
        }
        guard cells.count <= header.count else {
            return [
                ListEntry(line: number, ListFault("The line has \(cells.count) cells for \(header.count) columns."))
            ]
        }
        let row = Dictionary(zip(header, cells)) { first, _ in first }
        return header.filter { $0.hasSuffix(Self.addresses) }.flatMap { files(of: $0, in: row, at: number) }
    }

    private func files(of column: String, in row: [String: String], at number: Int) -> [ListEntry] {
        let kind = column.dropLast(Self.addresses.count)
        let urls = Self.values(row[column])
        let (digests, sizes) = (Self.values(row["\(kind)_md5"]), Self.values(row["\(kind)_bytes"]))
        guard digests.isEmpty || digests.count == urls.count, sizes.isEmpty || sizes.count == urls.count else {
            return [
                ListEntry(
                    line: number,
                    ListFault(
                        "\(column) has \(urls.count) files, \(kind)_md5 \(digests.count) and \(kind)_bytes \(sizes.count)."
                    ))
            ]
        }
        return urls.indices.map { index in
            var job: JSONObject = ["url": .string(base.url(urls[index]))]
            if !digests.isEmpty, !digests[index].isEmpty {
                job["checksum"] = ListChecksum.of(digests[index], algorithm: "md5")
            }
            if let run = row["run_accession"], !run.isEmpty { job["metadata"] = ["run_accession": .string(run)] }
            do throws(ListFault) {
                if !sizes.isEmpty, !sizes[index].isEmpty {
                    job["expected_size"] = try TabSeparatedLines.size(sizes[index])
                }
                return ListEntry(line: number, job)
            } catch {
                return ListEntry(line: number, error)
            }
        }
    }

    /// A semicolon at the end separates nothing.
    private static func values(_ cell: String?) -> [String] {
        guard let cell, !cell.isEmpty else { return [] }
        let values = cell.split(separator: ";", omittingEmptySubsequences: false).map { $0.trimmedBlanks }
        return values.last == "" ? values.dropLast() : values
    }

    private static let addresses = "_ftp"
}

extension String {
    fileprivate var cells: [String] {
        utf8.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
            .map { Substring($0).trimmedBlanks }
    }
}
