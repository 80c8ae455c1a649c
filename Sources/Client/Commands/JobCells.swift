/// Jobs as the rows of a table, and a job as the lines of `show`.
extension Table {
    static func jobs(_ jobs: [JobDocument]) -> Table {
        var table = Table(
            .init(title: "ID"), .init(title: "STATE"),
            .init(title: "DONE", isRightAligned: true, isDispensable: true),
            .init(title: "SIZE", isRightAligned: true, isDispensable: true),
            .init(title: "SESSION", isDispensable: true), .init(title: "NAME"))
        for job in jobs {
            table.add(
                .init(job.id), .init(JobDescription.stateWithReason(job), state: job.state),
                .init(job.progress.fraction.map(DisplayFormat.percent) ?? ""),
                .init((job.progress.bytesExpected ?? job.file?.size).map(DisplayFormat.bytes) ?? ""),
                .init(job.session),
                .init(job.name))
        }
        return table
    }
}
