; What LLVM 19 knows of functions of the C library: made by scripts/library_attributes.py.
declare i32 @abs(i32) #0
declare noundef i32 @access(ptr nocapture noundef readonly, i32 noundef) #1
declare double @acos(double) #0
declare float @acosf(float) #0
declare double @acosh(double) #0
declare float @acoshf(float) #0
declare x86_fp80 @acoshl(x86_fp80) #0
declare x86_fp80 @acosl(x86_fp80) #0
declare noalias noundef ptr @aligned_alloc(i64 allocalign noundef, i64 noundef) #2
declare double @asin(double) #0
declare float @asinf(float) #0
declare double @asinh(double) #0
declare float @asinhf(float) #0
declare x86_fp80 @asinhl(x86_fp80) #0
declare x86_fp80 @asinl(x86_fp80) #0
declare double @atan(double) #0
declare double @atan2(double, double) #0
declare float @atan2f(float, float) #0
declare x86_fp80 @atan2l(x86_fp80, x86_fp80) #0
declare float @atanf(float) #0
declare double @atanh(double) #0
declare float @atanhf(float) #0
declare x86_fp80 @atanhl(x86_fp80) #0
declare x86_fp80 @atanl(x86_fp80) #0
declare i32 @atexit(ptr) #3
declare double @atof(ptr nocapture) #4
declare i32 @atoi(ptr nocapture) #4
declare i64 @atol(ptr nocapture) #4
declare i64 @atoll(ptr nocapture) #4
declare i32 @bcmp(ptr nocapture, ptr nocapture, i64) #5
declare void @bcopy(ptr nocapture readonly, ptr nocapture writeonly, i64) #6
declare void @bzero(ptr nocapture writeonly, i64) #6
declare noalias noundef ptr @calloc(i64 noundef, i64 noundef) #7
declare double @cbrt(double) #0
declare float @cbrtf(float) #0
declare x86_fp80 @cbrtl(x86_fp80) #0
declare double @ceil(double) #0
declare float @ceilf(float) #0
declare x86_fp80 @ceill(x86_fp80) #0
declare noundef i32 @chmod(ptr nocapture noundef readonly, i32 noundef) #1
declare noundef i32 @chown(ptr nocapture noundef readonly, i32 noundef, i32 noundef) #1
declare void @clearerr(ptr nocapture noundef) #1
declare noundef i32 @closedir(ptr nocapture noundef) #1
declare double @copysign(double, double) #0
declare float @copysignf(float, float) #0
declare x86_fp80 @copysignl(x86_fp80, x86_fp80) #0
declare double @cos(double) #0
declare float @cosf(float) #0
declare double @cosh(double) #0
declare float @coshf(float) #0
declare x86_fp80 @coshl(x86_fp80) #0
declare x86_fp80 @cosl(x86_fp80) #0
declare noundef ptr @ctermid(ptr nocapture noundef) #1
declare double @erf(double) #0
declare float @erff(float) #0
declare x86_fp80 @erfl(x86_fp80) #0
declare i32 @execl(ptr, ptr, ...) #3
declare i32 @execle(ptr, ptr, ...) #3
declare i32 @execlp(ptr, ptr, ...) #3
declare i32 @execv(ptr, ptr) #3
declare i32 @execve(ptr, ptr, ptr) #3
declare i32 @execvp(ptr, ptr) #3
declare i32 @execvpe(ptr, ptr, ptr) #3
declare double @exp(double) #0
declare double @exp2(double) #0
declare float @exp2f(float) #0
declare x86_fp80 @exp2l(x86_fp80) #0
declare float @expf(float) #0
declare x86_fp80 @expl(x86_fp80) #0
declare double @expm1(double) #0
declare float @expm1f(float) #0
declare x86_fp80 @expm1l(x86_fp80) #0
declare double @fabs(double) #0
declare float @fabsf(float) #0
declare x86_fp80 @fabsl(x86_fp80) #0
declare noundef i32 @fclose(ptr nocapture noundef) #1
declare noalias noundef ptr @fdopen(i32 noundef, ptr nocapture noundef readonly) #1
declare noundef i32 @feof(ptr nocapture noundef) #1
declare noundef i32 @ferror(ptr nocapture noundef) #8
declare noundef i32 @fflush(ptr nocapture noundef) #1
declare i32 @ffs(i32) #0
declare i32 @ffsl(i64) #0
declare i32 @ffsll(i64) #0
declare noundef i32 @fgetc(ptr nocapture noundef) #1
declare noundef i32 @fgetc_unlocked(ptr nocapture noundef) #1
declare noundef i32 @fgetpos(ptr nocapture noundef, ptr nocapture noundef) #1
declare noundef ptr @fgets(ptr noundef, i32 noundef, ptr nocapture noundef) #1
declare noundef ptr @fgets_unlocked(ptr noundef, i32 noundef, ptr nocapture noundef) #1
declare noundef i32 @fileno(ptr nocapture noundef) #1
declare void @flockfile(ptr nocapture noundef) #1
declare double @floor(double) #0
declare float @floorf(float) #0
declare x86_fp80 @floorl(x86_fp80) #0
declare double @fmax(double, double) #0
declare float @fmaxf(float, float) #0
declare x86_fp80 @fmaxl(x86_fp80, x86_fp80) #0
declare double @fmin(double, double) #0
declare float @fminf(float, float) #0
declare x86_fp80 @fminl(x86_fp80, x86_fp80) #0
declare double @fmod(double, double) #0
declare float @fmodf(float, float) #0
declare x86_fp80 @fmodl(x86_fp80, x86_fp80) #0
declare noalias noundef ptr @fopen(ptr nocapture noundef readonly, ptr nocapture noundef readonly) #1
declare noalias noundef ptr @fopen64(ptr nocapture noundef readonly, ptr nocapture noundef readonly) #1
declare i32 @fork() #3
declare noundef i32 @fprintf(ptr nocapture noundef, ptr nocapture noundef readonly, ...) #1
declare noundef i32 @fputc(i32 noundef, ptr nocapture noundef) #1
declare noundef i32 @fputc_unlocked(i32 noundef, ptr nocapture noundef) #1
declare noundef i32 @fputs(ptr nocapture noundef readonly, ptr nocapture noundef) #1
declare noundef i32 @fputs_unlocked(ptr nocapture noundef readonly, ptr nocapture noundef) #1
declare noundef i64 @fread(ptr nocapture noundef, i64 noundef, i64 noundef, ptr nocapture noundef) #1
declare noundef i64 @fread_unlocked(ptr nocapture noundef, i64 noundef, i64 noundef, ptr nocapture noundef) #1
declare void @free(ptr allocptr nocapture noundef) #9
declare double @frexp(double, ptr nocapture) #10
declare float @frexpf(float, ptr nocapture) #10
declare x86_fp80 @frexpl(x86_fp80, ptr nocapture) #10
declare noundef i32 @fseek(ptr nocapture noundef, i64 noundef, i32 noundef) #1
declare noundef i32 @fseeko(ptr nocapture noundef, i64 noundef, i32 noundef) #1
declare noundef i32 @fseeko64(ptr nocapture noundef, i64 noundef, i32 noundef) #1
declare noundef i32 @fsetpos(ptr nocapture noundef, ptr noundef) #1
declare noundef i32 @fstat(i32 noundef, ptr nocapture noundef) #1
declare noundef i32 @fstat64(i32 noundef, ptr nocapture noundef) #1
declare noundef i32 @fstatvfs(i32 noundef, ptr nocapture noundef) #1
declare noundef i32 @fstatvfs64(i32 noundef, ptr nocapture noundef) #1
declare noundef i64 @ftell(ptr nocapture noundef) #1
declare noundef i64 @ftello(ptr nocapture noundef) #1
declare noundef i64 @ftello64(ptr nocapture noundef) #1
declare noundef i32 @ftrylockfile(ptr nocapture noundef) #1
declare void @funlockfile(ptr nocapture noundef) #1
declare noundef i64 @fwrite(ptr nocapture noundef, i64 noundef, i64 noundef, ptr nocapture noundef) #1
declare noundef i64 @fwrite_unlocked(ptr nocapture noundef, i64 noundef, i64 noundef, ptr nocapture noundef) #1
declare noundef i32 @getc(ptr nocapture noundef) #1
declare noundef i32 @getc_unlocked(ptr nocapture noundef) #1
declare noundef i32 @getchar() #1
declare noundef i32 @getchar_unlocked() #1
declare noundef ptr @getenv(ptr nocapture noundef) #8
declare noundef i32 @getitimer(i32 noundef, ptr nocapture noundef) #1
declare noundef i32 @getlogin_r(ptr nocapture noundef, i64 noundef) #1
declare noundef ptr @getpwnam(ptr nocapture noundef readonly) #1
declare noundef i32 @gettimeofday(ptr nocapture noundef, ptr nocapture noundef) #1
declare i32 @isascii(i32) #0
declare i32 @isdigit(i32) #0
declare i64 @labs(i64) #0
declare noundef i32 @lchown(ptr nocapture noundef readonly, i32 noundef, i32 noundef) #1
declare double @ldexp(double, i32) #11
declare float @ldexpf(float, i32) #11
declare x86_fp80 @ldexpl(x86_fp80, i32) #11
declare i64 @llabs(i64) #0
declare double @log(double) #0
declare double @log10(double) #0
declare float @log10f(float) #0
declare x86_fp80 @log10l(x86_fp80) #0
declare double @log1p(double) #0
declare float @log1pf(float) #0
declare x86_fp80 @log1pl(x86_fp80) #0
declare double @log2(double) #0
declare float @log2f(float) #0
declare x86_fp80 @log2l(x86_fp80) #0
declare double @logb(double) #0
declare float @logbf(float) #0
declare x86_fp80 @logbl(x86_fp80) #0
declare float @logf(float) #0
declare x86_fp80 @logl(x86_fp80) #0
declare noundef i32 @lstat(ptr nocapture noundef readonly, ptr nocapture noundef) #1
declare noundef i32 @lstat64(ptr nocapture noundef readonly, ptr nocapture noundef) #1
declare noalias noundef ptr @malloc(i64 noundef) #12
declare ptr @memccpy(ptr noalias writeonly, ptr noalias nocapture readonly, i32, i64) #6
declare ptr @memchr(ptr, i32, i64) #5
declare i32 @memcmp(ptr nocapture, ptr nocapture, i64) #5
declare ptr @memcpy(ptr noalias returned writeonly, ptr noalias nocapture readonly, i64) #6
declare ptr @memmove(ptr returned writeonly, ptr nocapture readonly, i64) #6
declare ptr @mempcpy(ptr noalias writeonly, ptr noalias nocapture readonly, i64) #6
declare ptr @memrchr(ptr, i32, i64) #5
declare ptr @memset(ptr writeonly, i32, i64) #6
declare noundef i32 @mkdir(ptr nocapture noundef readonly, i32 noundef) #1
declare noundef i64 @mktime(ptr nocapture noundef) #13
declare double @modf(double, ptr nocapture) #10
declare float @modff(float, ptr nocapture) #10
declare x86_fp80 @modfl(x86_fp80, ptr nocapture) #10
declare double @nearbyint(double) #0
declare float @nearbyintf(float) #0
declare x86_fp80 @nearbyintl(x86_fp80) #0
declare noundef i32 @open(ptr nocapture noundef readonly, i32 noundef, ...) #3
declare noundef i32 @open64(ptr nocapture noundef readonly, i32 noundef, ...) #3
declare noalias noundef ptr @opendir(ptr nocapture noundef readonly) #1
declare noundef i32 @pclose(ptr nocapture noundef) #1
declare void @perror(ptr nocapture noundef readonly) #1
declare noalias noundef ptr @popen(ptr nocapture noundef readonly, ptr nocapture noundef readonly) #1
declare i32 @posix_memalign(ptr, i64, i64) #3
declare double @pow(double, double) #0
declare float @powf(float, float) #0
declare x86_fp80 @powl(x86_fp80, x86_fp80) #0
declare noundef i64 @pread(i32 noundef, ptr nocapture noundef, i64 noundef, i64 noundef) #3
declare noundef i32 @printf(ptr nocapture noundef readonly nonnull dereferenceable(1), ...) #1
declare noundef i32 @putc(i32 noundef, ptr nocapture noundef) #1
declare noundef i32 @putc_unlocked(i32 noundef, ptr nocapture noundef) #1
declare noundef i32 @putchar(i32 noundef) #1
declare noundef i32 @putchar_unlocked(i32 noundef) #1
declare noundef i32 @puts(ptr nocapture noundef readonly nonnull dereferenceable(1)) #1
declare noundef i64 @pwrite(i32 noundef, ptr nocapture noundef readonly, i64 noundef, i64 noundef) #3
declare void @qsort(ptr noundef, i64 noundef, i64 noundef, ptr nocapture noundef) #3
declare noundef i64 @read(i32 noundef, ptr nocapture noundef, i64 noundef) #3
declare noundef i64 @readlink(ptr nocapture noundef readonly, ptr nocapture noundef, i64 noundef) #1
declare noalias noundef ptr @realloc(ptr allocptr nocapture, i64 noundef) #14
declare noundef ptr @realpath(ptr nocapture noundef readonly, ptr noundef) #1
declare double @remainder(double, double) #0
declare float @remainderf(float, float) #0
declare x86_fp80 @remainderl(x86_fp80, x86_fp80) #0
declare noundef i32 @remove(ptr nocapture noundef readonly) #1
declare double @remquo(double, double, ptr nocapture) #0
declare float @remquof(float, float, ptr nocapture) #0
declare x86_fp80 @remquol(x86_fp80, x86_fp80, ptr nocapture) #0
declare noundef i32 @rename(ptr nocapture noundef readonly, ptr nocapture noundef readonly) #1
declare void @rewind(ptr nocapture noundef) #1
declare double @rint(double) #0
declare float @rintf(float) #0
declare x86_fp80 @rintl(x86_fp80) #0
declare noundef i32 @rmdir(ptr nocapture noundef readonly) #1
declare double @round(double) #0
declare double @roundeven(double) #3
declare float @roundevenf(float) #3
declare x86_fp80 @roundevenl(x86_fp80) #3
declare float @roundf(float) #0
declare x86_fp80 @roundl(x86_fp80) #0
declare noundef i32 @__isoc99_scanf(ptr nocapture noundef readonly, ...) #1
declare void @setbuf(ptr nocapture noundef, ptr noundef) #1
declare noundef i32 @setitimer(i32 noundef, ptr nocapture noundef readonly, ptr nocapture noundef) #13
declare noundef i32 @setvbuf(ptr nocapture noundef, ptr noundef, i32 noundef, i64 noundef) #1
declare double @sin(double) #0
declare float @sinf(float) #0
declare double @sinh(double) #0
declare float @sinhf(float) #0
declare x86_fp80 @sinhl(x86_fp80) #0
declare x86_fp80 @sinl(x86_fp80) #0
declare noundef i32 @snprintf(ptr noalias nocapture noundef writeonly, i64 noundef, ptr nocapture noundef readonly, ...) #1
declare noundef i32 @sprintf(ptr noalias nocapture noundef writeonly nonnull dereferenceable(1), ptr nocapture noundef readonly nonnull dereferenceable(1), ...) #1
declare double @sqrt(double) #0
declare float @sqrtf(float) #0
declare x86_fp80 @sqrtl(x86_fp80) #0
declare noundef i32 @__isoc99_sscanf(ptr nocapture noundef readonly, ptr nocapture noundef readonly, ...) #1
declare noundef i32 @stat(ptr nocapture noundef readonly, ptr nocapture noundef) #1
declare noundef i32 @stat64(ptr nocapture noundef readonly, ptr nocapture noundef) #1
declare noundef i32 @statvfs(ptr nocapture noundef readonly, ptr nocapture noundef) #1
declare noundef i32 @statvfs64(ptr nocapture noundef readonly, ptr nocapture noundef) #1
declare ptr @stpcpy(ptr noalias writeonly, ptr noalias nocapture readonly) #6
declare ptr @stpncpy(ptr noalias writeonly, ptr noalias nocapture readonly, i64) #6
declare i32 @strcasecmp(ptr nocapture, ptr nocapture) #4
declare ptr @strcat(ptr noalias returned nonnull dereferenceable(1), ptr noalias nocapture readonly nonnull dereferenceable(1)) #6
declare ptr @strchr(ptr nonnull dereferenceable(1), i32) #5
declare i32 @strcmp(ptr nocapture nonnull dereferenceable(1), ptr nocapture nonnull dereferenceable(1)) #5
declare i32 @strcoll(ptr nocapture, ptr nocapture) #4
declare ptr @strcpy(ptr noalias returned writeonly nonnull dereferenceable(1), ptr noalias nocapture readonly nonnull dereferenceable(1)) #6
declare i64 @strcspn(ptr nocapture, ptr nocapture) #5
declare noalias ptr @strdup(ptr nocapture readonly) #15
declare i64 @strlen(ptr nocapture nonnull dereferenceable(1)) #5
declare i32 @strncasecmp(ptr nocapture, ptr nocapture, i64) #4
declare ptr @strncat(ptr noalias returned nonnull dereferenceable(1), ptr noalias nocapture readonly, i64) #6
declare i32 @strncmp(ptr nocapture, ptr nocapture, i64) #5
declare ptr @strncpy(ptr noalias returned writeonly, ptr noalias nocapture readonly, i64) #6
declare noalias ptr @strndup(ptr nocapture readonly, i64 noundef) #15
declare i64 @strnlen(ptr nocapture, i64) #5
declare ptr @strpbrk(ptr, ptr nocapture) #5
declare ptr @strrchr(ptr nonnull dereferenceable(1), i32) #5
declare i64 @strspn(ptr nocapture, ptr nocapture) #5
declare ptr @strstr(ptr nonnull dereferenceable(1), ptr nocapture nonnull dereferenceable(1)) #5
declare double @strtod(ptr readonly, ptr nocapture) #13
declare float @strtof(ptr readonly, ptr nocapture) #13
declare ptr @strtok(ptr, ptr nocapture readonly) #13
declare ptr @strtok_r(ptr, ptr nocapture readonly, ptr) #13
declare i64 @strtol(ptr readonly, ptr nocapture, i32) #13
declare x86_fp80 @strtold(ptr readonly, ptr nocapture) #13
declare i64 @strtoll(ptr readonly, ptr nocapture, i32) #13
declare i64 @strtoul(ptr readonly, ptr nocapture, i32) #13
declare i64 @strtoull(ptr readonly, ptr nocapture, i32) #13
declare i64 @strxfrm(ptr nocapture, ptr nocapture readonly, i64) #13
declare noundef i32 @system(ptr nocapture noundef readonly) #3
declare double @tan(double) #0
declare float @tanf(float) #0
declare double @tanh(double) #0
declare float @tanhf(float) #0
declare x86_fp80 @tanhl(x86_fp80) #0
declare x86_fp80 @tanl(x86_fp80) #0
declare noundef i64 @times(ptr nocapture noundef) #1
declare noalias noundef ptr @tmpfile() #1
declare noalias noundef ptr @tmpfile64() #1
declare i32 @toascii(i32) #0
declare double @trunc(double) #0
declare float @truncf(float) #0
declare x86_fp80 @truncl(x86_fp80) #0
declare noundef i32 @uname(ptr nocapture noundef) #1
declare noundef i32 @ungetc(i32 noundef, ptr nocapture noundef) #1
declare noundef i32 @unlink(ptr nocapture noundef readonly) #1
declare noundef i32 @unsetenv(ptr nocapture noundef readonly) #1
declare noundef i32 @utime(ptr nocapture noundef readonly, ptr nocapture noundef readonly) #1
declare noundef i32 @utimes(ptr nocapture noundef readonly, ptr nocapture noundef readonly) #1
declare noalias noundef ptr @valloc(i64 noundef) #12
declare noundef i32 @vfprintf(ptr nocapture noundef, ptr nocapture noundef readonly, ptr noundef) #1
declare noundef i32 @vprintf(ptr nocapture noundef readonly, ptr noundef) #1
declare noundef i32 @vsnprintf(ptr nocapture noundef, i64 noundef, ptr nocapture noundef readonly, ptr noundef) #1
declare noundef i32 @vsprintf(ptr nocapture noundef, ptr nocapture noundef readonly, ptr noundef) #1
declare noundef i64 @write(i32 noundef, ptr nocapture noundef readonly, i64 noundef) #3
attributes #0 = { mustprogress nofree nounwind willreturn memory(write) }
attributes #1 = { nofree nounwind }
attributes #2 = { mustprogress nofree nounwind willreturn allockind("alloc,uninitialized,aligned") allocsize(1) memory(inaccessiblemem: readwrite) "alloc-family"="malloc" }
attributes #3 = { nofree }
attributes #4 = { mustprogress nofree nounwind willreturn memory(read) }
attributes #5 = { mustprogress nofree nounwind willreturn memory(argmem: read) }
attributes #6 = { mustprogress nofree nounwind willreturn memory(argmem: readwrite) }
attributes #7 = { mustprogress nofree nounwind willreturn allockind("alloc,zeroed") allocsize(0,1) memory(inaccessiblemem: readwrite) "alloc-family"="malloc" }
attributes #8 = { nofree nounwind memory(read) }
attributes #9 = { mustprogress nounwind willreturn allockind("free") memory(argmem: readwrite, inaccessiblemem: readwrite) "alloc-family"="malloc" }
attributes #10 = { mustprogress nofree nounwind willreturn memory(argmem: write) }
attributes #11 = { mustprogress nofree willreturn }
attributes #12 = { mustprogress nofree nounwind willreturn allockind("alloc,uninitialized") allocsize(0) memory(inaccessiblemem: readwrite) "alloc-family"="malloc" }
attributes #13 = { mustprogress nofree nounwind willreturn }
attributes #14 = { mustprogress nounwind willreturn allockind("realloc") allocsize(1) memory(argmem: readwrite, inaccessiblemem: readwrite) "alloc-family"="malloc" }
attributes #15 = { mustprogress nofree nounwind willreturn memory(argmem: readwrite, inaccessiblemem: readwrite) "alloc-family"="malloc" }
